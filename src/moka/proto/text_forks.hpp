#pragma once

#include <google/protobuf/message.h>

#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "moka/proto/fork_fields.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/proto/text_tokens.hpp"

namespace moka {

/// Says what has to be said of fields that forks of Caffe added, of each field once a text.
class TextForks {
 public:
  TextForks(TextProblems* problems, const TextOptions& options)
      : problems_(*problems), options_(options) {}

  /// A field that `type` does not have: whether some fork has it.
  bool SeeUnknown(const google::protobuf::Descriptor* type, const std::string& name,
                  TextPosition at);

  /// A field that was just read into `message`: it matters if nothing acts on it yet and its value
  /// is not the default.
  void SeeKnown(const google::protobuf::Message& message,
                const google::protobuf::FieldDescriptor* field, TextPosition at);

 private:
  void Say(ForkKind kind, const std::string& message, const std::string& field, TextPosition at);

  TextProblems& problems_;
  const TextOptions& options_;
  std::unordered_map<const google::protobuf::FieldDescriptor*, ForkKind> kinds_;
  std::set<std::pair<std::string, std::string>> said_;
};

}  // namespace moka
