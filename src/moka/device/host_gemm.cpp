#include "moka/device/host_gemm.hpp"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <climits>

#include "moka/base/error.hpp"

namespace moka {
namespace {

/// Slices are whole cache lines of C, so that threads do not write to the same one.
constexpr int64_t kSliceStep = 16;

/// Multiply-adds below which another thread is not worth waking.
constexpr double kWorkOfSlice = 1 << 17;

/// BLAS counts in int; larger matrices are refused instead of wrapped.
int Dimension(int64_t size) {
  Require(size <= INT_MAX, "a matrix side of ", size, " is too large for the BLAS library");
  return static_cast<int>(size);
}

CBLAS_TRANSPOSE Op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

/// C = alpha * op(A) * op(B) + beta * C with the distances between rows given.
struct Product {
  bool transpose_a, transpose_b;
  int m, n, k;
  float alpha;
  const float* a;
  int row_a;
  const float* b;
  int row_b;
  float beta;
  float* c;
  int row_c;

  Product Rows(int64_t begin, int64_t end) const {
    Product slice = *this;
    slice.m = static_cast<int>(end - begin);
    slice.a += transpose_a ? begin : begin * row_a;
    slice.c += begin * row_c;
    return slice;
  }

  Product Columns(int64_t begin, int64_t end) const {
    Product slice = *this;
    slice.n = static_cast<int>(end - begin);
    slice.b += transpose_b ? begin * row_b : begin;
    slice.c += begin;
    return slice;
  }

  void Run() const {
    cblas_sgemm(CblasRowMajor, Op(transpose_a), Op(transpose_b), m, n, k, alpha, a, row_a, b, row_b,
                beta, c, row_c);
  }
};

}  // namespace

void HostGemm(int threads, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
              float alpha, const float* a, const float* b, float beta, float* c) {
  const int rows = Dimension(m), columns = Dimension(n), depth = Dimension(k);
  const Product product{transpose_a, transpose_b,
                        rows,        columns,
                        depth,       alpha,
                        a,           transpose_a ? rows : depth,
                        b,           transpose_b ? depth : columns,
                        beta,        c,
                        columns};
  // Along the longer side, so that the operand that all slices read is the smaller one.
  const int64_t side = std::max(m, n);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int slices = static_cast<int>(std::min(
      {static_cast<double>(threads), static_cast<double>(side / kSliceStep), work / kWorkOfSlice}));
  if (slices <= 1) {
    omp_set_num_threads(1);  // the BLAS library asks OpenMP
    product.Run();
    return;
  }
#pragma omp parallel for num_threads(slices) schedule(static)
  for (int slice = 0; slice < slices; ++slice) {
    const auto edge = [&](int i) {
      return i == slices ? side : side * i / slices / kSliceStep * kSliceStep;
    };
    (m >= n ? product.Rows(edge(slice), edge(slice + 1))
            : product.Columns(edge(slice), edge(slice + 1)))
        .Run();
  }
}

}  // namespace moka
