#pragma once

#include <cmath>
#include <cstdint>

#include "moka/base/host_device.hpp"
#include "moka/device/context.hpp"

namespace moka {

/// One axis of bilinear resizing: output o lies at o * ratio + shift among the inputs; beyond the
/// edges the outermost input counts.
struct ResizeAxis {
  int64_t in = 1;
  int64_t out = 1;
  float ratio = 1;
  float shift = 0;

  /// The outermost inputs and outputs lie on each other.
  static ResizeAxis AlignedCorners(int64_t in, int64_t out) {
    const float ratio = out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0;
    return {in, out, ratio, 0};
  }
  /// The edges of inputs and outputs, half a pixel beyond, lie on each other.
  static ResizeAxis AlignedEdges(int64_t in, int64_t out) {
    const float ratio = static_cast<float>(in) / static_cast<float>(out);
    return {in, out, ratio, 0.5f * ratio - 0.5f};
  }

  /// Output = (1 - weight) * input[lower] + weight * input[upper].
  struct Taps {
    int64_t lower, upper;
    float weight;
  };
  MOKA_HD Taps Of(int64_t o) const {
    const float place = fmaxf(static_cast<float>(o) * ratio + shift, 0.0f);
    const int64_t floor = static_cast<int64_t>(place);
    const int64_t lower = floor < in - 1 ? floor : in - 1;
    const int64_t upper = lower < in - 1 ? lower + 1 : lower;
    return {lower, upper, place - static_cast<float>(lower)};
  }
  /// How much input i counts in output o.
  MOKA_HD float Share(int64_t i, int64_t o) const {
    const Taps taps = Of(o);
    return (taps.lower == i ? 1.0f - taps.weight : 0.0f) + (taps.upper == i ? taps.weight : 0.0f);
  }
  /// Outputs outside [FirstReader(i), EndReader(i)) do not read input i.
  MOKA_HD int64_t FirstReader(int64_t i) const {
    if (i == 0 || ratio <= 0) return 0;
    const float first = floorf((static_cast<float>(i - 1) - shift) / ratio);
    return first < 1 ? 0 : static_cast<int64_t>(first) - 1;
  }
  MOKA_HD int64_t EndReader(int64_t i) const {
    if (i == in - 1 || ratio <= 0) return out;
    const float last = ceilf((static_cast<float>(i + 1) - shift) / ratio) + 2;
    return last < static_cast<float>(out) ? static_cast<int64_t>(last) : out;
  }
};

/// Bilinear resizing of `planes` images of h.in x w.in, which lie in images whose rows are
/// `row_stride` and whose planes are `plane_stride` values apart.
struct Resizing {
  int64_t planes = 0;
  ResizeAxis h, w;
  int64_t row_stride = 0, plane_stride = 0;
};

/// y: tight images of h.out x w.out.
void ResizeForward(Context& context, const Resizing& resizing, const float* x, float* y);

/// dx gets the gradient where the images lie; what is around them stays. Uses the context's scratch
/// memory.
void ResizeBackward(Context& context, const Resizing& resizing, const float* dy, float* dx);

}  // namespace moka
