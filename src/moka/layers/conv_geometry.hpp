#pragma once

#include <cstdint>
#include <vector>

#include "moka/base/host_device.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/tensor/shape.hpp"

namespace moka {

/// How a kernel moves along one spatial axis.
struct ConvAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  /// The pixels from a kernel's first tap to its last.
  int64_t Extent() const { return dilation * (kernel - 1) + 1; }
};

/// What the fields of a convolution_param say about a bottom: axes before `channel_axis` count
/// images, those after it are spatial.
struct ConvFields {
  int channel_axis = 1;
  std::vector<ConvAxis> axes;
};

/// Reads kernel, stride, pad and dilation for every spatial axis of `bottom`: one value for all
/// axes, one for each, or (with two axes) the fields ending in _h and _w. Pads of two axes may
/// instead be given by side (pad_t, pad_b, pad_l, pad_r). Throws Error at the field that is
/// missing, zero, given twice or given the wrong number of times.
ConvFields ReadConvFields(const LayerParameter& layer, const Shape& bottom);

/// The lengths of the spatial axes of what a convolution makes of `image`:
/// (image + pads - extent) / stride + 1. Throws Error where the kernel does not fit.
std::vector<int64_t> ConvOutput(const LayerParameter& layer, const ConvFields& fields,
                                const Shape& image);

/// The lengths of the spatial axes of what a deconvolution makes of `maps`:
/// (maps - 1) * stride + extent - pads. Throws Error where nothing is left.
std::vector<int64_t> DeconvOutput(const LayerParameter& layer, const ConvFields& fields,
                                  const Shape& maps);

/// Checks that `group` divides the channels of the image and `num_output` and gives it; the types
/// named after depthwise convolution have as many groups as channels unless told otherwise.
int64_t ConvGroups(const LayerParameter& layer, int64_t channels);

/// Plain numbers for kernels: windows that move over an image of `channels` planes, a window for
/// every position of a map.
struct ConvWindow {
  static constexpr int kMaxAxes = 10;

  /// Images with fewer than two spatial axes get leading axes of length 1.
  ConvWindow() = default;
  ConvWindow(const ConvFields& fields, int64_t image_channels,
             const std::vector<int64_t>& image_dims, const std::vector<int64_t>& map_dims);

  int64_t image_values() const { return channels * image_size; }
  int64_t rows() const { return channels * taps; }

  /// Whether every window is just the pixel at the same place.
  bool IsPointwise() const;

  int axes = 2;
  int64_t channels = 1;
  int64_t taps = 1;        // product of kernel
  int64_t image_size = 1;  // product of image
  int64_t map_size = 1;    // product of map
  int64_t kernel[kMaxAxes] = {};
  int64_t stride[kMaxAxes] = {};
  int64_t dilation[kMaxAxes] = {};
  int64_t pad[kMaxAxes] = {};
  int64_t image[kMaxAxes] = {};
  int64_t map[kMaxAxes] = {};
};

}  // namespace moka
