#pragma once

#include <google/protobuf/message.h>

#include "moka/proto/text_reader.hpp"
#include "moka/proto/text_tokens.hpp"

namespace moka {

/// Reads values that are not messages.
class TextValues {
 public:
  TextValues(TextTokens* tokens, TextProblems* problems, const TextOptions& options)
      : tokens_(*tokens), problems_(*problems), options_(options) {}

  /// Reads the value that starts at the current token and sets the field to it, or adds it if the
  /// field is repeated. If it is no such value, says so, leaves the tokens where the trouble is
  /// and returns false.
  bool Read(google::protobuf::Message* message, const google::protobuf::FieldDescriptor* field);

 private:
  using Token = TextTokens::Token;
  using Message = google::protobuf::Message;
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  /// A minus sign, if one is there, is passed over.
  bool Minus();
  bool Complain(const std::string& what);
  bool Wrong(const FieldDescriptor* field, const std::string& wanted);

  bool ReadQuoted(const FieldDescriptor* field, const std::string& wanted, double least,
                  double most, double* value);
  bool ReadInteger(const FieldDescriptor* field, int64_t least, uint64_t most, int64_t* value);
  bool ReadReal(const FieldDescriptor* field, double* value);
  bool ReadBool(const FieldDescriptor* field, bool* value);
  bool ReadString(const FieldDescriptor* field, std::string* value);
  bool ReadEnum(Message* message, const FieldDescriptor* field);

  TextTokens& tokens_;
  TextProblems& problems_;
  const TextOptions& options_;
};

}  // namespace moka
