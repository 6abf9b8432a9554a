#include "moka/layers/pooling.hpp"

#include <cfloat>
#include <cmath>

#include "moka/layers/pool_parts.hpp"

namespace moka {
namespace {

/// kWidth neighbouring maxima of kKernel x kKernel windows (kKernel 2 or 3, kStride 1 or 2), with
/// everything in registers.
template <int kWidth, int kKernel, int kStride>
MOKA_HD void MaxOfBlock(const float* x, int width, int place, float* best, int32_t* at) {
  float value[kWidth];
  int32_t where[kWidth];
  for (int i = 0; i < kWidth; ++i) value[i] = -FLT_MAX;
  for (int i = 0; i < kWidth; ++i) where[i] = -1;
  for (int h = 0; h < kKernel; ++h) {
    const float* row = x + h * width;
    const int start = place + h * width;
    // With stride 2, even and odd columns are parted first: compilers do that with shuffles, but
    // read the third tap one by one where it stands in the row.
    float even[kWidth + 1], odd[kWidth];
    if (kStride == 2) {
#pragma omp simd
      for (int i = 0; i < kWidth; ++i) {
        even[i] = row[2 * i];
        odd[i] = row[2 * i + 1];
      }
      if (kKernel == 3) even[kWidth] = row[2 * kWidth];
    }
#pragma omp simd
    for (int i = 0; i < kWidth; ++i) {
      float largest = value[i];
      int32_t place_of_largest = where[i];
      for (int tap = 0; tap < kKernel; ++tap) {
        const float candidate =
            kStride == 1 ? row[i + tap] : (tap == 1 ? odd[i] : even[i + tap / 2]);
        place_of_largest = candidate > largest ? start + i * kStride + tap : place_of_largest;
        largest = candidate > largest ? candidate : largest;
      }
      value[i] = largest;
      where[i] = place_of_largest;
    }
  }
  for (int i = 0; i < kWidth; ++i) best[i] = value[i];
  for (int i = 0; i < kWidth; ++i) at[i] = where[i];
}

/// `count` >= kWidth maxima; the last block overlaps the one before, so that no single ones remain.
template <int kWidth, int kKernel, int kStride>
MOKA_HD void MaxOfBlocks(const float* x, int width, int place, int count, float* best,
                         int32_t* at) {
  for (int block = 0; block < count; block += kWidth) {
    const int i = block + kWidth <= count ? block : count - kWidth;
    MaxOfBlock<kWidth, kKernel, kStride>(x + i * kStride, width, place + i * kStride, best + i,
                                         at + i);
  }
}

/// Takes one value of each window into its maximum.
MOKA_HD void TakeMax(const float* x, int place, int stride, int count, float* best, int32_t* at) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    const float candidate = x[i * stride];
    at[i] = candidate > best[i] ? place + i * stride : at[i];
    best[i] = candidate > best[i] ? candidate : best[i];
  }
}

template <int kTaps, int kStride>
MOKA_HD void TakeSum(const float* x, int stride, int count, float* sum) {
  const int step = kStride > 0 ? kStride : stride;
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    float value = sum[i];
    for (int tap = 0; tap < kTaps; ++tap) value += x[i * step + tap];
    sum[i] = value;
  }
}

struct MaxForward {
  PoolPlanes pool;
  const float* x;
  float* y;
  int32_t* mask;
  int length = 1;
  FullColumns full = {};

  MOKA_HD void operator()(int64_t plane_row, int64_t part) const {
    const OutputRun run(pool, plane_row, part, length);
    const float* plane = x + run.plane * pool.h.in * pool.w.in;
    float* best = y + plane_row * pool.w.out;
    int32_t* at = mask + plane_row * pool.w.out;
    for (int o = run.begin; o < run.end; ++o) {
      if (o == full.begin && full.begin < full.end) {
        Full(plane, run.row, best, at);
        o = full.end - 1;
      } else {
        One(plane, run.row, o, best, at);
      }
    }
  }

  MOKA_HD void One(const float* plane, int row, int column, float* best, int32_t* at) const {
    float value = -FLT_MAX;
    int32_t where = -1;
    for (int h = pool.h.Begin(row); h < pool.h.End(row); ++h) {
      for (int w = pool.w.Begin(column); w < pool.w.End(column); ++w) {
        const float candidate = plane[h * pool.w.in + w];
        if (!(candidate > value)) continue;
        value = candidate;
        where = h * pool.w.in + w;
      }
    }
    best[column] = value;
    at[column] = where;
  }

  MOKA_HD void Full(const float* plane, int row, float* best, int32_t* at) const {
    const int place = pool.h.Begin(row) * pool.w.in + pool.w.Start(full.begin);
    const int kernel = pool.w.kernel, stride = pool.w.stride;
    const bool square = pool.h.Length(row) == kernel;
    best += full.begin, at += full.begin;
    if (square && kernel == 3 && stride == 2) {
      Blocks<3, 2>(plane + place, place, best, at);
    } else if (square && kernel == 2 && stride == 2) {
      Blocks<2, 2>(plane + place, place, best, at);
    } else if (square && kernel == 3 && stride == 1) {
      Blocks<3, 1>(plane + place, place, best, at);
    } else {
      AnyKernel(plane, row, best, at);
    }
  }

  template <int kKernel, int kStride>
  MOKA_HD void Blocks(const float* x, int place, float* best, int32_t* at) const {
    const int count = full.end - full.begin;
    if (count >= 16) {
      MaxOfBlocks<16, kKernel, kStride>(x, pool.w.in, place, count, best, at);
    } else if (count >= 8) {
      MaxOfBlocks<8, kKernel, kStride>(x, pool.w.in, place, count, best, at);
    } else if (count >= 4) {
      MaxOfBlocks<4, kKernel, kStride>(x, pool.w.in, place, count, best, at);
    } else {
      MaxOfBlocks<1, kKernel, kStride>(x, pool.w.in, place, count, best, at);
    }
  }

  // Taps in row-major order, so that the first of equal values stays.
  MOKA_HD void AnyKernel(const float* plane, int row, float* best, int32_t* at) const {
    const int count = full.end - full.begin;
    for (int i = 0; i < count; ++i) best[i] = -FLT_MAX;
    for (int i = 0; i < count; ++i) at[i] = -1;
    for (int h = pool.h.Begin(row); h < pool.h.End(row); ++h) {
      const int place = h * pool.w.in + pool.w.Start(full.begin);
      for (int tap = 0; tap < pool.w.kernel; ++tap) {
        TakeMax(plane + place + tap, place + tap, pool.w.stride, count, best, at);
      }
    }
  }
};

struct AverageForward {
  PoolPlanes pool;
  bool count_padding;
  const float* x;
  float* y;
  int length = 1;
  FullColumns full = {};

  MOKA_HD void operator()(int64_t plane_row, int64_t part) const {
    const OutputRun run(pool, plane_row, part, length);
    const float* plane = x + run.plane * pool.h.in * pool.w.in;
    float* mean = y + plane_row * pool.w.out;
    for (int o = run.begin; o < run.end; ++o) {
      if (o == full.begin && full.end - full.begin > 1) {
        Full(plane, run.row, mean);
        o = full.end - 1;
      } else {
        mean[o] = One(plane, run.row, o);
      }
    }
  }

  MOKA_HD float One(const float* plane, int row, int column) const {
    float sum = 0;
    for (int h = pool.h.Begin(row); h < pool.h.End(row); ++h) {
      for (int w = pool.w.Begin(column); w < pool.w.End(column); ++w) {
        sum += plane[h * pool.w.in + w];
      }
    }
    const int size = count_padding ? pool.h.PaddedLength(row) * pool.w.PaddedLength(column)
                                   : pool.h.Length(row) * pool.w.Length(column);
    return size > 0 ? sum / static_cast<float>(size) : 0.0f;
  }

  MOKA_HD void Full(const float* plane, int row, float* mean) const {
    for (int o = full.begin; o < full.end; ++o) mean[o] = 0;
    for (int h = pool.h.Begin(row); h < pool.h.End(row); ++h) {
      const float* start = plane + h * pool.w.in + pool.w.Start(full.begin);
      if (pool.w.stride == 2) {
        Row<2>(start, mean + full.begin);
      } else if (pool.w.stride == 1) {
        Row<1>(start, mean + full.begin);
      } else {
        Row<0>(start, mean + full.begin);
      }
    }
    const int size =
        (count_padding ? pool.h.PaddedLength(row) : pool.h.Length(row)) * pool.w.kernel;
    const float divisor = static_cast<float>(size > 0 ? size : 1);
    for (int o = full.begin; o < full.end; ++o) mean[o] /= divisor;
  }

  template <int kStride>
  MOKA_HD void Row(const float* start, float* sum) const {
    const int count = full.end - full.begin;
    int tap = 0;
    for (; tap + 3 <= pool.w.kernel; tap += 3) {
      TakeSum<3, kStride>(start + tap, pool.w.stride, count, sum);
    }
    if (tap + 2 == pool.w.kernel) {
      TakeSum<2, kStride>(start + tap, pool.w.stride, count, sum);
    } else if (tap + 1 == pool.w.kernel) {
      TakeSum<1, kStride>(start + tap, pool.w.stride, count, sum);
    }
  }
};

struct MaskedBackward {
  PoolPlanes pool;
  const int32_t* mask;
  const float* dy;
  float* dx;
  bool whole = true;

  MOKA_HD void operator()(int64_t plane, int64_t part) const {
    const InputRun run(pool, whole, part);
    float* to = dx + plane * pool.h.in * pool.w.in;
    // A run is contiguous, so that a place is compared without being split into row and column.
    const int first = run.h0 * pool.w.in + run.w0;
    const int last = (run.h1 - 1) * pool.w.in + run.w1 - 1;
    for (int i = first; i <= last; ++i) to[i] = 0;
    const int64_t outputs = plane * pool.h.out * pool.w.out;
    for (int oh = run.oh0; oh < run.oh1; ++oh) {
      for (int64_t o = outputs + oh * pool.w.out + run.ow0, end = o + run.ow1 - run.ow0; o < end;
           ++o) {
        const int at = mask[o];
        if (at >= first && at <= last) to[at] += dy[o];
      }
    }
  }
};

struct AverageBackward {
  PoolPlanes pool;
  bool count_padding;
  const float* dy;
  float* dx;
  bool whole = true;

  MOKA_HD void operator()(int64_t plane, int64_t part) const {
    const InputRun run(pool, whole, part);
    float* to = dx + plane * pool.h.in * pool.w.in;
    for (int i = run.h0 * pool.w.in + run.w0; i < (run.h1 - 1) * pool.w.in + run.w1; ++i) to[i] = 0;
    const float* from = dy + plane * pool.h.out * pool.w.out;
    for (int oh = run.oh0; oh < run.oh1; ++oh) {
      for (int ow = run.ow0; ow < run.ow1; ++ow) Spread(run, oh, ow, from, to);
    }
  }

  MOKA_HD void Spread(const InputRun& run, int oh, int ow, const float* from, float* to) const {
    const int size = count_padding ? pool.h.PaddedLength(oh) * pool.w.PaddedLength(ow)
                                   : pool.h.Length(oh) * pool.w.Length(ow);
    const float share = from[oh * pool.w.out + ow] / static_cast<float>(size > 0 ? size : 1);
    const int h0 = pool.h.Begin(oh) > run.h0 ? pool.h.Begin(oh) : run.h0;
    const int h1 = pool.h.End(oh) < run.h1 ? pool.h.End(oh) : run.h1;
    const int w0 = pool.w.Begin(ow) > run.w0 ? pool.w.Begin(ow) : run.w0;
    const int w1 = pool.w.End(ow) < run.w1 ? pool.w.End(ow) : run.w1;
    for (int h = h0; h < h1; ++h) {
      for (int w = w0; w < w1; ++w) to[h * pool.w.in + w] += share;
    }
  }
};

}  // namespace

int PoolOutputs(const PoolAxis& axis, bool padded, bool round_down) {
  const double windows =
      static_cast<double>(axis.padded_end + axis.pad - axis.kernel) / axis.stride;
  int out = static_cast<int>(round_down ? std::floor(windows) : std::ceil(windows)) + 1;
  if (padded && static_cast<int64_t>(out - 1) * axis.stride >= axis.in + axis.pad) --out;
  return out;
}

void MaxPoolForward(Context& context, const PoolPlanes& pool, const float* x, float* y,
                    int32_t* mask) {
  ForOutputs(context, pool, MaxForward{pool, x, y, mask});
}

void MaskedPoolBackward(Context& context, const PoolPlanes& pool, const int32_t* mask,
                        const float* dy, float* dx) {
  ForInputs(context, pool, MaskedBackward{pool, mask, dy, dx});
}

void AveragePoolForward(Context& context, const PoolPlanes& pool, bool count_padding,
                        const float* x, float* y) {
  ForOutputs(context, pool, AverageForward{pool, count_padding, x, y});
}

void AveragePoolBackward(Context& context, const PoolPlanes& pool, bool count_padding,
                         const float* dy, float* dx) {
  ForInputs(context, pool, AverageBackward{pool, count_padding, dy, dx});
}

}  // namespace moka
