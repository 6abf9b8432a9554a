#include "moka/proto/source.hpp"

#include <vector>

#include "moka/base/strings.hpp"

namespace moka {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string PlaceText(const std::string& file, int line, int column) {
  return Text(file, ":", line, ":", column);
}

/// "param[0].lr_mult" is written "param.lr_mult" in places.
std::string WithoutZeroIndices(std::string path) {
  for (size_t at; (at = path.find("[0]")) != std::string::npos;) path.erase(at, 3);
  return path;
}

/// "param[1].lr_mult" -> "param[1]" -> "".
std::string ParentPath(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

const FieldPlace* FindPlace(const SourcePlace& place, const std::string& path) {
  for (const FieldPlace& field : place.field()) {
    if (field.path() == path) return &field;
  }
  return nullptr;
}

std::string Named(const LayerParameter& layer) {
  const std::string name =
      layer.name().empty() ? "unnamed layer" : "layer \"" + layer.name() + "\"";
  return layer.type().empty() ? name : name + " (" + layer.type() + ")";
}

}  // namespace

const FieldDescriptor* SourceFieldOf(const Descriptor* type) {
  const FieldDescriptor* field = type->FindFieldByNumber(kSourceField);
  return field && field->message_type() == SourcePlace::descriptor() ? field : nullptr;
}

std::string PlaceText(const SourcePlace& place) {
  return place.line() > 0 ? PlaceText(place.file(), place.line(), place.column()) : "";
}

std::string FieldPlaceOf(const SourcePlace& place, const std::string& path) {
  for (std::string at = WithoutZeroIndices(path); !at.empty(); at = ParentPath(at)) {
    const FieldPlace* field = FindPlace(place, at);
    if (field) return PlaceText(place.file(), field->line(), field->column());
  }
  return PlaceText(place);
}

std::string FieldPlaceOf(const LayerParameter& layer, const std::string& path) {
  return FieldPlaceOf(layer.source(), path);
}

std::string LayerPlace(const LayerParameter& layer) { return LayerPlace(layer, ""); }

std::string LayerPlace(const LayerParameter& layer, const std::string& path) {
  const std::string place = FieldPlaceOf(layer, path);
  return place.empty() ? Named(layer) : place + ": " + Named(layer);
}

void PutInLayer(Error* error, const LayerParameter& layer) {
  const std::string message = error->what();
  const size_t name = message.find(Named(layer) + ": ");
  const bool has_place =
      name != std::string::npos && (name == 0 || StartsWith(message, layer.source().file() + ":"));
  if (!has_place) error->In(LayerPlace(layer));
}

void StripSource(Message* message) {
  const Reflection* reflection = message->GetReflection();
  const FieldDescriptor* source = SourceFieldOf(message->GetDescriptor());
  if (source) reflection->ClearField(message, source);
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      StripSource(reflection->MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      StripSource(reflection->MutableRepeatedMessage(message, field, i));
    }
  }
}

}  // namespace moka
