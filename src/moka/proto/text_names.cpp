#include "moka/proto/text_names.hpp"

#include "moka/base/strings.hpp"
#include "moka/proto/plugin_param.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/text_tokens.hpp"

namespace moka {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;

constexpr size_t kMostNames = 4;

/// Up to kMostNames names, and whether there are more.
std::string Listed(const std::vector<std::string>& names) {
  if (names.size() <= kMostNames) return Join(names, ", ");
  return Join(std::vector<std::string>(names.begin(), names.begin() + kMostNames), ", ") + ", ...";
}

/// A name that is known in many places ("width") says nothing of what was meant.
bool IsTelling(const std::vector<std::string>& names) {
  return names.size() == 1 || names.size() == 2;
}

// Looking for the nearest takes the square of the length.
bool IsShort(const std::string& name) { return name.size() <= 64; }

std::string Suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  return IsShort(name) ? DidYouMean(name, candidates) : "";
}

std::vector<std::string> ValuesOf(const EnumDescriptor* type) {
  std::vector<std::string> names;
  names.reserve(type->value_count());
  for (int i = 0; i < type->value_count(); ++i) names.push_back(type->value(i)->name());
  return names;
}

std::vector<std::string> FieldsOf(const Descriptor* type) {
  std::vector<std::string> names;
  for (int i = 0; i < type->field_count(); ++i) {
    if (FindTextField(type, type->field(i)->name())) names.push_back(type->field(i)->name());
  }
  if (type == LayerParameter::descriptor()) {
    for (const std::string& name : PluginParams()) names.push_back(name);
  }
  return names;
}

/// The fields of `type` that are messages in which `name` is known.
std::vector<std::string> ChildrenWith(const Descriptor* type, const std::string& name) {
  std::vector<std::string> children;
  for (int i = 0; i < type->field_count(); ++i) {
    const Descriptor* child = type->field(i)->message_type();
    if (child && FindTextField(type, type->field(i)->name()) && FindTextField(child, name)) {
      children.push_back(type->field(i)->name());
    }
  }
  return children;
}

/// Where near the unknown field its name is known; nothing if it is not.
std::string Nearby(const std::string& name, const std::vector<const Descriptor*>& around) {
  const std::vector<std::string> inside = ChildrenWith(around.front(), name);
  if (!inside.empty()) return "; it is a field of " + Listed(inside);
  for (size_t i = 1; i < around.size(); ++i) {
    const std::string outer = around[i]->name();
    if (FindTextField(around[i], name)) {
      return "; it is a field of " + outer + ": is a \"}\" missing before it?";
    }
    const std::vector<std::string> beside = ChildrenWith(around[i], name);
    if (IsTelling(beside)) return "; it is a field of " + Listed(beside) + " in " + outer;
  }
  return "";
}

/// The messages of the whole schema in which `name` is known.
std::string Elsewhere(const std::string& name, const Descriptor* type) {
  std::vector<std::string> types;
  for (int i = 0; i < type->file()->message_type_count(); ++i) {
    const Descriptor* other = type->file()->message_type(i);
    if (FindTextField(other, name)) types.push_back(other->name());
  }
  return IsTelling(types) ? "; it is a field of " + Listed(types) : "";
}

}  // namespace

const FieldDescriptor* FindTextField(const Descriptor* type, const std::string& name) {
  const FieldDescriptor* field = type->FindFieldByName(name);
  return field && field != SourceFieldOf(type) ? field : nullptr;
}

const google::protobuf::Message* FindPluginField(const Descriptor* type, const std::string& name) {
  return type == LayerParameter::descriptor() ? FindPluginParam(name) : nullptr;
}

std::string UnknownField(const std::string& name, const std::vector<const Descriptor*>& around) {
  const Descriptor* type = around.front();
  const std::string what = "unknown field " + Quoted(name) + " in " + type->name();
  const std::string nearby = Nearby(name, around);
  if (!nearby.empty()) return what + nearby;
  return what + Suggestion(name, FieldsOf(type)) + Elsewhere(name, type);
}

const FieldDescriptor* MeantField(const std::string& name,
                                  const std::vector<const Descriptor*>& around) {
  if (!IsShort(name) || !Nearby(name, around).empty()) return nullptr;
  return FindTextField(around.front(), NearestName(name, FieldsOf(around.front())));
}

const EnumValueDescriptor* MeantValue(const std::string& value, const FieldDescriptor* field) {
  if (!IsShort(value)) return nullptr;
  return field->enum_type()->FindValueByName(NearestName(value, ValuesOf(field->enum_type())));
}

std::string UnknownValue(const std::string& value, const FieldDescriptor* field) {
  const std::vector<std::string> names = ValuesOf(field->enum_type());
  return "unknown value " + Quoted(value) + " of " + field->name() + Suggestion(value, names) +
         "; the values are " + Join(names, ", ");
}

}  // namespace moka
