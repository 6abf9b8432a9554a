#include "moka/proto/text_forks.hpp"

#include <google/protobuf/text_format.h>

#include <memory>

namespace moka {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

bool IsDefault(const Message& message, const FieldDescriptor* field) {
  if (field->is_repeated() || field->message_type()) return false;
  const std::unique_ptr<Message> fresh(message.New());
  std::string value, usual;
  TextFormat::PrintFieldValueToString(message, field, -1, &value);
  TextFormat::PrintFieldValueToString(*fresh, field, -1, &usual);
  return value == usual;
}

}  // namespace

bool TextForks::SeeUnknown(const Descriptor* type, const std::string& name, TextPosition at) {
  const ForkKind kind = ForkFieldKind(type->name(), name);
  Say(kind, type->name(), name, at);
  return kind != ForkKind::kNone;
}

void TextForks::SeeKnown(const Message& message, const FieldDescriptor* field, TextPosition at) {
  const std::string& type = field->containing_type()->name();
  const auto [found, is_new] = kinds_.emplace(field, ForkKind::kNone);
  if (is_new) found->second = ForkFieldKind(type, field->name());
  // A layer type that moka lacks is refused for its type; its parameters need no word.
  if (found->second == ForkKind::kNone || found->second == ForkKind::kLayer) return;
  if (!IsDefault(message, field)) Say(found->second, type, field->name(), at);
}

void TextForks::Say(ForkKind kind, const std::string& message, const std::string& field,
                    TextPosition at) {
  if (kind == ForkKind::kNone || !said_.emplace(message, field).second) return;
  const std::string what = ForkFieldMessage(message, field);
  if (kind == ForkKind::kRefused && !options_.lenient) {
    problems_.Error(at, what);
  } else {
    problems_.Warn(at, what);
  }
}

}  // namespace moka
