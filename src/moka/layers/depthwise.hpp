#pragma once

#include "moka/layers/conv_passes.hpp"

namespace moka {

/// The passes of conv_passes.hpp where every image channel has its own map channels (as many groups
/// as channels, two spatial axes): direct sums over the window without columns and matrix products.
void DepthwiseToMaps(Context& context, const ConvShape& shape, const float* image,
                     const float* weights, const float* bias, float* maps);
void DepthwiseToImage(Context& context, const ConvShape& shape, const float* maps,
                      const float* weights, const float* bias, float* image);
void DepthwiseWeightGradient(Context& context, const ConvShape& shape, const float* image,
                             const float* maps, float beta, float* gradient);

}  // namespace moka
