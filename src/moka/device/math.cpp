#include "moka/device/math.hpp"

#include <cblas.h>
#include <omp.h>

#include <climits>

#include "moka/base/error.hpp"
#include "moka/device/cuda/cuda_device.hpp"
#include "moka/device/host_gemm.hpp"
#include "moka/device/reduce.hpp"

namespace moka {
namespace {

/// BLAS counts in int; larger matrices are refused instead of wrapped.
int Dimension(int64_t size) {
  Require(size <= INT_MAX, "a matrix side of ", size, " is too large for the BLAS library");
  return static_cast<int>(size);
}

CBLAS_TRANSPOSE Op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

struct CopyElement {
  const float* from;
  float* to;
  MOKA_HD void operator()(int64_t i) const { to[i] = from[i]; }
};

struct FillElement {
  float value;
  float* to;
  MOKA_HD void operator()(int64_t i) const { to[i] = value; }
};

struct AxpbyElement {
  float alpha;
  const float* x;
  float beta;
  float* y;
  MOKA_HD void operator()(int64_t i) const {
    y[i] = beta == 0.0f ? alpha * x[i] : alpha * x[i] + beta * y[i];
  }
};

struct AddScalarElement {
  float value;
  float* y;
  MOKA_HD void operator()(int64_t i) const { y[i] += value; }
};

struct DoubleSum {
  using Value = double;
  static MOKA_HD double Identity() { return 0; }
  static MOKA_HD double Combine(double a, double b) { return a + b; }
};

struct LoadValue {
  const float* x;
  MOKA_HD double operator()(int64_t, int64_t i) const { return x[i]; }
};

struct LoadProduct {
  const float* x;
  const float* y;
  MOKA_HD double operator()(int64_t, int64_t i) const { return static_cast<double>(x[i]) * y[i]; }
};

struct LoadMagnitude {
  const float* x;
  MOKA_HD double operator()(int64_t, int64_t i) const { return x[i] < 0 ? -x[i] : x[i]; }
};

struct StoreDouble {
  double* out;
  MOKA_HD void operator()(int64_t, double value) const { *out = value; }
};

template <typename Load>
double SumOnHost(Context& context, int64_t n, Load load) {
  const Memory result(context.shared_device(), sizeof(double));
  ReduceRows<DoubleSum>(context, 1, n, load, StoreDouble{static_cast<double*>(result.data())});
  double value = 0;
  context.device().Download(&value, result.data(), sizeof value, context.stream());
  return value;
}

}  // namespace

void Gemm(Context& context, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          float alpha, const float* a, const float* b, float beta, float* c) {
  if (m == 0 || n == 0) return;
  if (context.kind() == DeviceKind::kCuda) {
    CudaGemm(context, transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
    return;
  }
  const KernelScope scope(context.device());
  HostGemm(context.threads(), transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
}

void Gemv(Context& context, bool transpose_a, int64_t m, int64_t n, float alpha, const float* a,
          const float* x, float beta, float* y) {
  if (m == 0 || n == 0) return;
  if (context.kind() == DeviceKind::kCuda) {
    CudaGemv(context, transpose_a, m, n, alpha, a, x, beta, y);
    return;
  }
  const KernelScope scope(context.device());
  omp_set_num_threads(context.threads());
  cblas_sgemv(CblasRowMajor, Op(transpose_a), Dimension(m), Dimension(n), alpha, a, Dimension(n), x,
              1, beta, y, 1);
}

void Copy(Context& context, int64_t n, const float* from, float* to) {
  ForEach(context, n, CopyElement{from, to});
}

void Fill(Context& context, int64_t n, float value, float* to) {
  ForEach(context, n, FillElement{value, to});
}

void Axpby(Context& context, int64_t n, float alpha, const float* x, float beta, float* y) {
  ForEach(context, n, AxpbyElement{alpha, x, beta, y});
}

void AddScalar(Context& context, int64_t n, float value, float* y) {
  ForEach(context, n, AddScalarElement{value, y});
}

double Sum(Context& context, int64_t n, const float* x) {
  return SumOnHost(context, n, LoadValue{x});
}

double Dot(Context& context, int64_t n, const float* x, const float* y) {
  return SumOnHost(context, n, LoadProduct{x, y});
}

double AbsSum(Context& context, int64_t n, const float* x) {
  return SumOnHost(context, n, LoadMagnitude{x});
}

}  // namespace moka
