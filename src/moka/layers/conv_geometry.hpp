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

/// What one tap of a window sees along one axis: at map position p in [begin, end) the pixel
/// first + p * stride.
struct TapRange {
  int64_t first;
  int64_t begin;
  int64_t end;

  MOKA_HD int64_t count() const { return end - begin; }
};

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

  /// The map positions at which tap number `tap` along `axis` sees a pixel in [low, high).
  MOKA_HD TapRange Range(int axis, int64_t tap, int64_t low, int64_t high) const {
    const int64_t first = tap * dilation[axis] - pad[axis];
    const int64_t begin = PositionFrom(axis, low - first);
    const int64_t end = PositionFrom(axis, high - first);
    const int64_t last = end < map[axis] ? end : map[axis];
    return {first, begin < last ? begin : last, last};
  }

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

 private:
  /// The first position whose window begins `distance` pixels or more from that of position 0.
  MOKA_HD int64_t PositionFrom(int axis, int64_t distance) const {
    if (distance <= 0) return 0;
    return stride[axis] == 1 ? distance : (distance + stride[axis] - 1) / stride[axis];
  }
};

}  // namespace moka
