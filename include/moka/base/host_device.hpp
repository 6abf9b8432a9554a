#pragma once

/// Marks a function that runs on the host and inside CUDA kernels alike.
#ifdef __CUDACC__
#define MOKA_HD __host__ __device__ __forceinline__
#else
#define MOKA_HD inline __attribute__((always_inline))
#endif
