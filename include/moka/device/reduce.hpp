#pragma once

#include <cfloat>
#include <cstdint>
#include <vector>

#include "moka/device/for_each.hpp"

namespace moka {

/// What a reduction does with two values. The order in which values are combined depends on the
/// shape alone, never on the number of threads, so results repeat bit for bit.
struct SumOf {
  using Value = float;
  static MOKA_HD float Identity() { return 0.0f; }
  static MOKA_HD float Combine(float a, float b) { return a + b; }
};

struct MaxOf {
  using Value = float;
  static MOKA_HD float Identity() { return -FLT_MAX; }
  static MOKA_HD float Combine(float a, float b) { return a < b ? b : a; }
};

struct MinOf {
  using Value = float;
  static MOKA_HD float Identity() { return FLT_MAX; }
  static MOKA_HD float Combine(float a, float b) { return b < a ? b : a; }
};

constexpr int kReduceLanes = 16;
constexpr int64_t kReduceChunk = 16384;

/// One chunk of a row: independent lanes that vectorise, then folded in a fixed tree.
template <typename Op, typename Load>
typename Op::Value ReduceChunk(int64_t row, int64_t begin, int64_t end, Load load) {
  typename Op::Value lanes[kReduceLanes];
  for (int lane = 0; lane < kReduceLanes; ++lane) lanes[lane] = Op::Identity();
  int64_t column = begin;
  for (; column + kReduceLanes <= end; column += kReduceLanes) {
#pragma omp simd
    for (int lane = 0; lane < kReduceLanes; ++lane) {
      lanes[lane] = Op::Combine(lanes[lane], load(row, column + lane));
    }
  }
  for (int lane = 0; column < end; ++column, ++lane) {
    lanes[lane] = Op::Combine(lanes[lane], load(row, column));
  }
  for (int half = kReduceLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      lanes[lane] = Op::Combine(lanes[lane], lanes[lane + half]);
    }
  }
  return lanes[0];
}

#ifdef __CUDACC__
template <typename Op, typename Load, typename Store>
__global__ void ReduceRowsKernel(int64_t rows, int64_t columns, Load load, Store store) {
  __shared__ typename Op::Value shared[kCudaThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    typename Op::Value value = Op::Identity();
    for (int64_t column = threadIdx.x; column < columns; column += kCudaThreads) {
      value = Op::Combine(value, load(row, column));
    }
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = kCudaThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        shared[threadIdx.x] = Op::Combine(shared[threadIdx.x], shared[threadIdx.x + half]);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) store(row, shared[0]);
    __syncthreads();
  }
}
#endif

/// For every row in [0, rows): store(row, Combine of load(row, column) over all columns).
/// `load` and `store` are functors like those of ForEach; Op is SumOf, MaxOf or a struct like them
/// (Value may be a struct of plain numbers). A row without columns stores Identity().
template <typename Op, typename Load, typename Store>
void ReduceRows(Context& context, int64_t rows, int64_t columns, Load load, Store store) {
  if (rows <= 0) return;
#ifdef __CUDACC__
  if (context.kind() == DeviceKind::kCuda) {
    const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(rows, 1 << 16));
    ReduceRowsKernel<Op><<<blocks, kCudaThreads, 0, static_cast<cudaStream_t>(context.stream())>>>(
        rows, columns, load, store);
    CheckCudaLaunch();
    return;
  }
#endif
  const KernelScope scope(context.device());
  const int threads = rows * columns < kParallelGrain ? 1 : context.threads();
  if (columns <= kReduceChunk) {
#pragma omp parallel for firstprivate(load, store) num_threads(threads) if (threads > 1)
    for (int64_t row = 0; row < rows; ++row) {
      store(row, ReduceChunk<Op>(row, 0, columns, load));
    }
    return;
  }
  const int64_t chunks = (columns + kReduceChunk - 1) / kReduceChunk;
  std::vector<typename Op::Value> partial(chunks);
  for (int64_t row = 0; row < rows; ++row) {
#pragma omp parallel for firstprivate(load) num_threads(threads) if (threads > 1)
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      partial[chunk] = ReduceChunk<Op>(row, chunk * kReduceChunk,
                                       std::min(columns, (chunk + 1) * kReduceChunk), load);
    }
    typename Op::Value value = partial[0];
    for (int64_t chunk = 1; chunk < chunks; ++chunk) value = Op::Combine(value, partial[chunk]);
    store(row, value);
  }
}

/// One column of ReduceColumns, top to bottom.
template <typename Op, typename Load, typename Store>
struct ColumnReducer {
  int64_t rows;
  Load load;
  Store store;
  MOKA_HD void operator()(int64_t column) const {
    typename Op::Value value = Op::Identity();
    for (int64_t row = 0; row < rows; ++row) value = Op::Combine(value, load(row, column));
    store(column, value);
  }
};

/// For every column in [0, columns): store(column, Combine of load(row, column) over all rows).
/// Reads row by row on the CPU, which suits row-major arrays.
template <typename Op, typename Load, typename Store>
void ReduceColumns(Context& context, int64_t rows, int64_t columns, Load load, Store store) {
  if (columns <= 0) return;
  if (context.kind() == DeviceKind::kCuda) {
    ForEach(context, columns, ColumnReducer<Op, Load, Store>{rows, load, store});
    return;
  }
  const KernelScope scope(context.device());
  constexpr int64_t kBlock = 64;
  const int threads = rows * columns < kParallelGrain ? 1 : context.threads();
#pragma omp parallel for firstprivate(load, store) num_threads(threads) if (threads > 1)
  for (int64_t begin = 0; begin < columns; begin += kBlock) {
    const int64_t width = std::min(kBlock, columns - begin);
    typename Op::Value value[kBlock];
    for (int64_t j = 0; j < width; ++j) value[j] = Op::Identity();
    for (int64_t row = 0; row < rows; ++row) {
#pragma omp simd
      for (int64_t j = 0; j < width; ++j) value[j] = Op::Combine(value[j], load(row, begin + j));
    }
    for (int64_t j = 0; j < width; ++j) store(begin + j, value[j]);
  }
}

/// Load functor: rows of a row-major matrix.
struct LoadRowMajor {
  const float* data;
  int64_t columns;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    return data[row * columns + column];
  }
};

/// Store functor: out[i] = scale * value + beta * out[i]; with beta 0 `out` is not read.
struct StoreScaled {
  float* out;
  float scale;
  float beta;
  MOKA_HD void operator()(int64_t i, float value) const {
    out[i] = beta == 0.0f ? scale * value : scale * value + beta * out[i];
  }
};

}  // namespace moka
