#pragma once

#include <cstdint>

namespace moka {

/// Gemm (see math.hpp) in host memory on up to `threads` threads: each multiplies its own slice of
/// C with a one-thread BLAS, and nobody waits for another before the end. The BLAS library's own
/// threads share packed pieces and wait for each other many times a product.
void HostGemm(int threads, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
              float alpha, const float* a, const float* b, float beta, float* c);

}  // namespace moka
