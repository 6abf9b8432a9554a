#pragma once

#include <cstdint>

#include "moka/base/host_device.hpp"
#include "moka/base/philox.hpp"
#include "moka/device/context.hpp"

namespace moka {

/// One axis of a pooling: the window of output o begins at input o * stride - pad, and is clipped
/// to the input.
struct PoolAxis {
  int in = 1;
  int out = 1;
  int kernel = 1;
  int stride = 1;
  int pad = 0;         // before the input
  int padded_end = 1;  // where the padding after the input ends

  MOKA_HD int Start(int o) const { return o * stride - pad; }
  MOKA_HD int Begin(int o) const { return Start(o) > 0 ? Start(o) : 0; }
  MOKA_HD int End(int o) const { return Start(o) + kernel < in ? Start(o) + kernel : in; }

  /// The length of the window, clipped to the padded input, or to the input.
  MOKA_HD int PaddedLength(int o) const {
    return (Start(o) + kernel < padded_end ? Start(o) + kernel : padded_end) - Start(o);
  }
  MOKA_HD int Length(int o) const { return End(o) - Begin(o); }

  /// The outputs whose windows contain input i: [FirstCovering(i), EndCovering(i)).
  MOKA_HD int FirstCovering(int i) const {
    return i + pad < kernel ? 0 : (i + pad - kernel) / stride + 1;
  }
  MOKA_HD int EndCovering(int i) const {
    const int end = (i + pad) / stride + 1;
    return end < out ? end : out;
  }
};

/// How many windows an axis has (all its other members are set): (in + padding - kernel) / stride
/// + 1, rounded up, or down. If the pooling is `padded` on any side, a last window that would begin
/// beyond the input and the padding before it is dropped. Below 1 if the kernel does not fit.
int PoolOutputs(const PoolAxis& axis, bool padded, bool round_down);

/// Pooling of `planes` images of h.in x w.in, each by itself, to h.out x w.out.
struct PoolPlanes {
  int64_t planes = 0;
  PoolAxis h, w;
};

/// The largest value of each window, -FLT_MAX of an empty one. `mask` gets its place in the plane,
/// h * w.in + w: of equal values the first in row-major order; -1 for an empty window.
void MaxPoolForward(Context& context, const PoolPlanes& pool, const float* x, float* y,
                    int32_t* mask);

/// dx = the sum of dy of those windows that took this input, as `mask` says.
void MaskedPoolBackward(Context& context, const PoolPlanes& pool, const int32_t* mask,
                        const float* dy, float* dx);

/// The mean of each window; padding counts as zeros if `count_padding`, else not at all.
void AveragePoolForward(Context& context, const PoolPlanes& pool, bool count_padding,
                        const float* x, float* y);
void AveragePoolBackward(Context& context, const PoolPlanes& pool, bool count_padding,
                         const float* dy, float* dx);

/// One value of each window (of values >= 0), drawn with a probability proportional to it; `mask`
/// as with MaxPoolForward. (Zeiler and Fergus, "Stochastic pooling", ICLR 2013.)
void StochasticPoolForward(Context& context, const PoolPlanes& pool, const Philox& philox,
                           int64_t pass, const float* x, float* y, int32_t* mask);

/// What StochasticPoolForward gives on average: the sum of x^2 over the sum of x.
void ExpectedPoolForward(Context& context, const PoolPlanes& pool, const float* x, float* y);

}  // namespace moka
