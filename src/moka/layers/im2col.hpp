#pragma once

#include "moka/device/context.hpp"
#include "moka/layers/conv_geometry.hpp"

namespace moka {

/// Lays out what each window of one image sees: columns is rows() x map_size, where row
/// (channel, tap) holds that tap's pixel for every position of the map, and 0 in the padding.
void Im2col(Context& context, const ConvWindow& window, const float* image, float* columns);

/// The transpose of Im2col: every pixel becomes the sum of its places in `columns`.
void Col2im(Context& context, const ConvWindow& window, const float* columns, float* image);

/// The same by the code for any number of axes, which Caffe's force_nd_im2col asks for.
void Im2colNd(Context& context, const ConvWindow& window, const float* image, float* columns);
void Col2imNd(Context& context, const ConvWindow& window, const float* columns, float* image);

}  // namespace moka
