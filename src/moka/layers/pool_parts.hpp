#pragma once

#include "moka/device/for_each.hpp"
#include "moka/layers/pooling.hpp"

namespace moka {

/// How poolings are shared out. A GPU wants one output (or one input, backwards) a call; a CPU
/// wants a whole row to vectorise (or a whole plane, into which gradients are scattered without
/// visiting windows that do not matter). The functors take runs of either length.

/// A run of outputs within a row: ForEach2D(planes * h.out, parts).
struct OutputRun {
  int64_t plane;
  int row;
  int begin, end;

  MOKA_HD OutputRun(const PoolPlanes& pool, int64_t plane_row, int64_t part, int length)
      : plane(plane_row / pool.h.out),
        row(static_cast<int>(plane_row - plane * pool.h.out)),
        begin(static_cast<int>(part) * length),
        end(begin + length < pool.w.out ? begin + length : pool.w.out) {}
};

/// The columns [begin, end) of a run whose windows lie wholly inside the input; they are computed
/// together, row by row, those at the edges one by one.
struct FullColumns {
  int begin = 0;
  int end = 0;

  /// None on a GPU, where a run is one output.
  static FullColumns Of(const Context& context, const PoolAxis& w) {
    if (context.kind() == DeviceKind::kCuda || w.in + w.pad < w.kernel) return {};
    const int begin = (w.pad + w.stride - 1) / w.stride;
    const int last = (w.in + w.pad - w.kernel) / w.stride;
    return {begin, last + 1 < w.out ? last + 1 : w.out};
  }
};

template <typename F>
void ForOutputs(Context& context, const PoolPlanes& pool, F functor) {
  functor.length = context.kind() == DeviceKind::kCuda ? 1 : pool.w.out;
  functor.full = FullColumns::Of(context, pool.w);
  const int64_t work = static_cast<int64_t>(pool.h.kernel) * pool.w.kernel;
  ForEach2D(context, pool.planes * pool.h.out, pool.w.out / functor.length, functor,
            work * functor.length);
}

/// A run of inputs: the whole plane, or one input. It is the rectangle [h0, h1) x [w0, w1); only
/// windows [oh0, oh1) x [ow0, ow1) meet it.
struct InputRun {
  int h0, h1, w0, w1;
  int oh0, oh1, ow0, ow1;

  MOKA_HD InputRun(const PoolPlanes& pool, bool whole, int64_t part) {
    h0 = w0 = oh0 = ow0 = 0;
    h1 = pool.h.in, w1 = pool.w.in, oh1 = pool.h.out, ow1 = pool.w.out;
    if (whole) return;
    h0 = static_cast<int>(part) / pool.w.in;
    w0 = static_cast<int>(part) - h0 * pool.w.in;
    h1 = h0 + 1, w1 = w0 + 1;
    oh0 = pool.h.FirstCovering(h0), oh1 = pool.h.EndCovering(h0);
    ow0 = pool.w.FirstCovering(w0), ow1 = pool.w.EndCovering(w0);
  }
};

template <typename F>
void ForInputs(Context& context, const PoolPlanes& pool, F functor) {
  functor.whole = context.kind() != DeviceKind::kCuda;
  const int64_t size = static_cast<int64_t>(pool.h.in) * pool.w.in;
  ForEach2D(context, pool.planes, functor.whole ? 1 : size, functor, functor.whole ? size : 1);
}

}  // namespace moka
