#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>

#include "moka/base/host_device.hpp"
#include "moka/device/context.hpp"

#if defined(MOKA_CUDA) && !defined(__CUDACC__)
#error "for_each.hpp is compiled by nvcc in a CUDA build, or its file would have no kernels"
#endif

namespace moka {

/// Below this many elements a loop stays on one thread: waking the others costs more.
constexpr int64_t kParallelGrain = 8192;

#ifdef __CUDACC__
constexpr int kCudaThreads = 256;

/// Throws Error when the last kernel launch was refused.
void CheckCudaLaunch();

template <typename F>
__global__ void ForEachKernel(int64_t n, F f) {
  const int64_t step = static_cast<int64_t>(blockDim.x) * gridDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += step) {
    f(i);
  }
}

template <typename F>
__global__ void ForEach2DKernel(int64_t n, int64_t columns, F f) {
  const int64_t step = static_cast<int64_t>(blockDim.x) * gridDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += step) {
    const int64_t row = i / columns;
    f(row, i - row * columns);
  }
}

inline unsigned CudaBlocks(int64_t n) {
  return static_cast<unsigned>(std::min<int64_t>((n + kCudaThreads - 1) / kCudaThreads, 1 << 20));
}
#endif

/// Calls f(i) for every i in [0, n), in any order and in parallel. `f` is a named functor whose
/// operator() is marked MOKA_HD and const; it is passed by value, so it holds plain pointers and
/// numbers. No two calls may write the same element.
template <typename F>
void ForEach(Context& context, int64_t n, F f) {
  if (n <= 0) return;
#ifdef __CUDACC__
  if (context.kind() == DeviceKind::kCuda) {
    ForEachKernel<<<CudaBlocks(n), kCudaThreads, 0, static_cast<cudaStream_t>(context.stream())>>>(
        n, f);
    CheckCudaLaunch();
    return;
  }
#endif
  const KernelScope scope(context.device());
  if (context.threads() == 1 || n < kParallelGrain) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) f(i);
    return;
  }
#pragma omp parallel for simd firstprivate(f) num_threads(context.threads()) schedule(static)
  for (int64_t i = 0; i < n; ++i) f(i);
}

/// Calls f(row, column) for every pair in [0, rows) x [0, columns). On the CPU the column runs
/// innermost, so what depends on the row alone is computed once a row. `work` is the cost of one
/// call in elementwise operations: it decides whether threads are worth waking.
template <typename F>
void ForEach2D(Context& context, int64_t rows, int64_t columns, F f, int64_t work = 1) {
  const int64_t n = rows * columns;
  if (n <= 0) return;
#ifdef __CUDACC__
  if (context.kind() == DeviceKind::kCuda) {
    ForEach2DKernel<<<CudaBlocks(n), kCudaThreads, 0,
                      static_cast<cudaStream_t>(context.stream())>>>(n, columns, f);
    CheckCudaLaunch();
    return;
  }
#endif
  const KernelScope scope(context.device());
  const int threads = n * work < kParallelGrain ? 1 : context.threads();
  // Threads share the elements, not the rows: a few long rows keep all of them busy, too.
#pragma omp parallel for firstprivate(f) num_threads(threads) if (threads > 1) schedule(static)
  for (int part = 0; part < threads; ++part) {
    const int64_t begin = n * part / threads, end = n * (part + 1) / threads;
    for (int64_t row = begin / columns; row * columns < end; ++row) {
      const int64_t first = std::max<int64_t>(begin - row * columns, 0);
      const int64_t last = std::min(end - row * columns, columns);
#pragma omp simd
      for (int64_t column = first; column < last; ++column) f(row, column);
    }
  }
}

/// Runs body(item_context, item, worker) for every item of a batch. On the CPU the items are shared
/// among workers in contiguous runs, each with a one-thread context, so that matrix products of one
/// item need no synchronisation; with a single item it gets all threads. On other devices items run
/// one after another as worker 0. `worker` < ItemWorkers(context, items) selects scratch memory.
///
/// `body` is a host function that calls device operations; an exception in it is passed on.
inline int ItemWorkers(const Context& context, int64_t items) {
  if (context.kind() != DeviceKind::kCpu) return 1;
  return static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(context.threads(), items)));
}

template <typename Body>
void ForItems(Context& context, int64_t items, const Body& body) {
  const int workers = ItemWorkers(context, items);
  if (workers == 1) {
    for (int64_t item = 0; item < items; ++item) body(context, item, 0);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel for num_threads(workers) schedule(static)
  for (int worker = 0; worker < workers; ++worker) {
    try {
      Context own = Context::Worker(context);
      for (int64_t i = items * worker / workers; i < items * (worker + 1) / workers; ++i) {
        body(own, i, worker);
      }
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace moka
