#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <utility>
#include <vector>

#include "moka/proto/text_forks.hpp"
#include "moka/proto/text_places.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/proto/text_tokens.hpp"
#include "moka/proto/text_values.hpp"

namespace moka {

/// Reads a text's fields into messages by descent, and finds its way again after a mistake: to the
/// end of the line, of the value in brackets or of the layer.
class TextParser {
 public:
  TextParser(const std::string& text, const TextOptions& options, TextProblems* problems)
      : options_(options),
        problems_(*problems),
        tokens_(text, problems),
        values_(&tokens_, problems, options),
        forks_(problems, options),
        places_(problems->file()) {}

  void Parse(google::protobuf::Message* out);

 private:
  using Token = TextTokens::Token;
  using Message = google::protobuf::Message;
  using Descriptor = google::protobuf::Descriptor;
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  /// A message being read.
  struct Frame {
    Message* message;
    const Descriptor* type;
    TextPosition start;  ///< Of its name (the file's is 1:1).
    char closer;         ///< What ends it, 0 for the file.
    /// The fields that may come only once, and where they came.
    std::vector<std::pair<const FieldDescriptor*, TextPosition>> given;

    const TextPosition* Given(const FieldDescriptor* field) const;
  };

  const Token& Current() const { return tokens_.Current(); }
  void Complain(const Token& token, const std::string& what);
  std::string At(TextPosition place) const;

  void ReadFields(Frame* frame);
  void ReadField(Frame* frame);
  void ReadKnown(Frame* frame, const FieldDescriptor* field, const Token& name);
  void ReadPluginParam(Frame* frame, const Message& prototype, const Token& name);
  void ReadUnknown(const Token& name);
  bool CanStandFor(const FieldDescriptor* field) const;
  void ReadValues(Frame* frame, const FieldDescriptor* field, const Token& name);
  bool ReadList(Frame* frame, const FieldDescriptor* field);
  bool ReadItem(Frame* frame, const FieldDescriptor* field, TextPosition at);
  void ReadMessage(Frame* frame, const FieldDescriptor* field, TextPosition at);
  void ReadInto(Message* message, const std::string& field, int index, TextPosition at);
  bool EndsFrame(Frame* frame);

  bool LeaveUnclosed(const Token& name);
  void SayUnclosed(const std::string& what, TextPosition start);
  void CheckRequired(const Frame& frame);
  bool LacksValue() const;

  void SkipValue();
  void SkipBrackets();
  void SkipLine(int line);

  const TextOptions& options_;
  TextProblems& problems_;
  TextTokens tokens_;
  TextValues values_;
  TextForks forks_;
  TextPlaces places_;
  std::vector<Frame*> frames_;  ///< From the file inwards.
  Frame* back_to_ = nullptr;    ///< Set while frames inside this one are given up.
  bool said_unclosed_ = false;  ///< The text ended within a message.
};

}  // namespace moka
