#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "moka/proto/moka.pb.h"

namespace moka {

// Parameters of layers that plug-ins bring. In a text such a layer has a block under the name that
// the plug-in registered, `my_param { alpha: 2 }`; in memory and in binary files the block is an
// entry of LayerParameter.plugin_param, which other programs skip.

/// From now on, texts may have blocks `field { ... }` in their layers, that are messages of
/// `prototype`'s type; it must live as long as the program. Throws Error where LayerParameter or
/// another plug-in has a field of that name with another type.
void RegisterPluginParam(const std::string& field, const google::protobuf::Message& prototype);

/// The prototype of a registered field; null if there is none.
const google::protobuf::Message* FindPluginParam(const std::string& field);

/// The registered fields in alphabetical order.
std::vector<std::string> PluginParams();

/// Reads the layer's block of the message's type into `out`; leaves the defaults where the layer
/// has none. Throws Error for bytes that are no such message.
void ReadPluginParam(const LayerParameter& layer, google::protobuf::Message* out);

/// The layer's parameters: `PluginParam<MyParameter>(param()).alpha()`.
template <typename Parameter>
Parameter PluginParam(const LayerParameter& layer) {
  Parameter parameter;
  ReadPluginParam(layer, &parameter);
  return parameter;
}

}  // namespace moka
