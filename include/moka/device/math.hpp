#pragma once

#include <cstdint>

#include "moka/device/context.hpp"

namespace moka {

/// C = alpha * op(A) * op(B) + beta * C with row-major tight matrices: op(A) is m x k, op(B) k x n,
/// C m x n. With beta 0, C is not read. Pointers are the context's device's.
void Gemm(Context& context, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          float alpha, const float* a, const float* b, float beta, float* c);

/// y = alpha * op(A) * x + beta * y, A row-major m x n as stored.
void Gemv(Context& context, bool transpose_a, int64_t m, int64_t n, float alpha, const float* a,
          const float* x, float beta, float* y);

/// to[i] = from[i].
void Copy(Context& context, int64_t n, const float* from, float* to);

/// to[i] = value.
void Fill(Context& context, int64_t n, float value, float* to);

/// y[i] = alpha * x[i] + beta * y[i]; with beta 0, y is not read.
void Axpby(Context& context, int64_t n, float alpha, const float* x, float beta, float* y);

/// y[i] += value.
void AddScalar(Context& context, int64_t n, float value, float* y);

/// The sum of x[i], on the host.
double Sum(Context& context, int64_t n, const float* x);

/// The sum of x[i] * y[i], on the host.
double Dot(Context& context, int64_t n, const float* x, const float* y);

/// The sum of |x[i]|, on the host.
double AbsSum(Context& context, int64_t n, const float* x);

}  // namespace moka
