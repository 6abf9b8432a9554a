#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace moka {

/// The field of that name which may stand in a text; nullptr if there is none. What moka itself
/// writes down (places) may not.
const google::protobuf::FieldDescriptor* FindTextField(const google::protobuf::Descriptor* type,
                                                       const std::string& name);

/// The prototype of what a plug-in calls `name` in a LayerParameter; nullptr for other names and
/// other messages.
const google::protobuf::Message* FindPluginField(const google::protobuf::Descriptor* type,
                                                 const std::string& name);

/// What to say of a field that `around.front()` does not know; `around` lists the types of the
/// messages it stands in, from the inside out. Looks whether a message near it knows the field:
/// `unknown field "num_output" in LayerParameter; it is a field of convolution_param, ...`.
std::string UnknownField(const std::string& name,
                         const std::vector<const google::protobuf::Descriptor*>& around);

/// The field of `type` that an unknown one was probably meant to be, by the same rules as the
/// suggestion of UnknownField; nullptr if none is near.
const google::protobuf::FieldDescriptor* MeantField(
    const std::string& name, const std::vector<const google::protobuf::Descriptor*>& around);

/// The value of the field's enumeration that was probably meant; nullptr if none is near.
const google::protobuf::EnumValueDescriptor* MeantValue(
    const std::string& value, const google::protobuf::FieldDescriptor* field);

/// What to say of a value that the field's enumeration does not know.
std::string UnknownValue(const std::string& value, const google::protobuf::FieldDescriptor* field);

}  // namespace moka
