#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "moka/base/error.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The number of the field in which a message of moka.proto says where in a text it came from.
constexpr int kSourceField = 10001;

/// The descriptor of `type`'s SourcePlace field, nullptr when messages of this type have none.
const google::protobuf::FieldDescriptor* SourceFieldOf(const google::protobuf::Descriptor* type);

/// `lenet.prototxt:41:3`, or nothing when the place is not known.
std::string PlaceText(const SourcePlace& place);

/// `lenet.prototxt:44:5`: where the field at `path` ("convolution_param.kernel_size",
/// "param[1].lr_mult"; a repeated field counts from 0, and "[0]" may be left out) was given. When
/// it was not given, the place of the nearest message around it; nothing when no place is known.
std::string FieldPlaceOf(const SourcePlace& place, const std::string& path);
std::string FieldPlaceOf(const LayerParameter& layer, const std::string& path);

/// `lenet.prototxt:41:3: layer "ip1" (InnerProduct)`, without the place when it is not known.
std::string LayerPlace(const LayerParameter& layer);

/// As LayerPlace(layer), with the place of the field at `path`.
std::string LayerPlace(const LayerParameter& layer, const std::string& path);

/// Puts LayerPlace(layer) in front of an error, unless FailAt did so with the place of a field.
void PutInLayer(Error* error, const LayerParameter& layer);

/// Throws an Error about the layer's field at `path`:
/// `lenet.prototxt:44:5: layer "conv1" (Convolution): parts...`.
template <typename... Parts>
[[noreturn]] void FailAt(const LayerParameter& layer, const std::string& path,
                         const Parts&... parts) {
  throw Error(Text(parts...)).In(LayerPlace(layer, path));
}

/// Removes every place from the message and all messages in it, as must be done before writing.
void StripSource(google::protobuf::Message* message);

}  // namespace moka
