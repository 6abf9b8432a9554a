#pragma once

#include <string>

namespace moka {

/// All layer types with their summaries, a line each.
std::string ListLayers();

/// What a layer type does and takes, and the fields of its parameter message.
/// Throws Error that suggests the nearest type.
std::string DescribeLayer(const std::string& type);

}  // namespace moka
