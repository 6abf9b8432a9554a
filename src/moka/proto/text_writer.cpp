#include <google/protobuf/text_format.h>

#include <memory>

#include "moka/proto/plugin_param.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

const PluginParameter& EntryOf(const Message& layer, int index) {
  return static_cast<const LayerParameter&>(layer).plugin_param(index);
}

/// The plug-in's message, nullptr where the plug-in is not there.
std::unique_ptr<Message> MessageOf(const PluginParameter& param) {
  const Message* prototype = FindPluginParam(param.field());
  if (prototype == nullptr || prototype->GetTypeName() != param.type()) return nullptr;
  std::unique_ptr<Message> message(prototype->New());
  return message->ParsePartialFromString(param.value()) ? std::move(message) : nullptr;
}

/// Writes plugin_param under the names that plug-ins gave: `my_param {`.
class PluginNames : public TextFormat::FastFieldValuePrinter {
 public:
  void PrintFieldName(const Message& layer, int index, int, const Reflection*,
                      const FieldDescriptor* field,
                      TextFormat::BaseTextGenerator* out) const override {
    const bool known = index >= 0 && MessageOf(EntryOf(layer, index)) != nullptr;
    out->PrintString(known ? EntryOf(layer, index).field() : field->name());
  }
};

class PluginMessages : public TextFormat::MessagePrinter {
 public:
  void Print(const Message& param, bool, TextFormat::BaseTextGenerator* out) const override {
    const auto message = MessageOf(static_cast<const PluginParameter&>(param));
    std::string text;
    TextFormat::PrintToString(message ? *message : param, &text);
    out->PrintString(text);
  }
};

void ShowPluginParams(TextFormat::Printer* printer) {
  const auto* field =
      LayerParameter::descriptor()->FindFieldByNumber(LayerParameter::kPluginParamFieldNumber);
  // The printer owns what it takes.
  printer->RegisterFieldValuePrinter(field, new PluginNames);
  printer->RegisterMessagePrinter(PluginParameter::descriptor(), new PluginMessages);
}

}  // namespace

std::string ToText(const Message& message) {
  const std::unique_ptr<Message> bare(message.New());
  bare->CopyFrom(message);
  StripSource(bare.get());
  TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  ShowPluginParams(&printer);
  std::string text;
  printer.PrintToString(*bare, &text);
  return text;
}

}  // namespace moka
