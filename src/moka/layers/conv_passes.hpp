#pragma once

#include "moka/device/context.hpp"
#include "moka/layers/conv_geometry.hpp"

namespace moka {

/// A linear map between two sides: `images` images of channels x image_size, and as many stacks of
/// map_channels x map_size, where every map value is a weighted sum over a window of the image.
/// Weights are map_channels x (channels / groups) x taps: group g of the maps sees group g of the
/// image's channels.
///
/// Convolution goes from image to maps and its gradient back; Deconvolution the other way round.
struct ConvShape {
  ConvWindow window;
  int64_t images = 0;
  int64_t map_channels = 0;
  int64_t groups = 1;
  bool general = false;  // the code for any number of axes even for two (force_nd_im2col)

  int64_t weights() const { return map_channels * (window.rows() / groups); }
  int64_t map_values() const { return map_channels * window.map_size; }

  /// Every channel has its own maps and there are at most two spatial axes: no matrix products.
  bool IsDepthwise() const {
    return groups > 1 && groups == window.channels && window.axes == 2 && !general;
  }

  /// Floating-point operations of one pass.
  int64_t Operations() const { return 2 * images * weights() * window.map_size; }
};

/// maps = W image + bias of each map channel (none if null).
void ConvToMaps(Context& context, const ConvShape& shape, const float* image, const float* weights,
                const float* bias, float* maps);

/// image = W^T maps + bias of each image channel (none if null).
void ConvToImage(Context& context, const ConvShape& shape, const float* maps, const float* weights,
                 const float* bias, float* image);

/// gradient = dW + beta * gradient, for the gradient of one side and the values of the other.
/// Repeats bit for bit with the same number of threads.
void ConvWeightGradient(Context& context, const ConvShape& shape, const float* image,
                        const float* maps, float beta, float* gradient);

/// gradient[c] = sum of values[i, c, p] over images i and positions p + beta * gradient[c].
void ConvBiasGradient(Context& context, int64_t images, int64_t channels, int64_t size,
                      const float* values, float beta, float* gradient);

}  // namespace moka
