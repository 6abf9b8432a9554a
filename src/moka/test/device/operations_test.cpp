#include <gtest/gtest.h>

#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/philox.hpp"
#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"
#include "moka/tensor/tensor.hpp"

namespace moka {
namespace {

Tensor Random(const Shape& shape, uint64_t stream) {
  Tensor tensor(shape);
  float* data = tensor.Write();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    data[i] = Philox::For(7, stream).Uniform(0, i) - 0.5f;
  }
  return tensor;
}

struct RowColumn {
  float* out;
  int64_t columns;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    out[row * columns + column] = static_cast<float>(1000 * row + column);
  }
};

// Sizes around the vector width, the grain and the chunk, and shapes with few long or many short
// rows, are where the splitting of loops could lose elements.
const std::vector<std::pair<int64_t, int64_t>> kAwkward = {
    {1, 1}, {1, 15}, {3, 17}, {1, 8193}, {2, 16384}, {2, 16385}, {5, 40001}, {9001, 1}, {300, 129}};

class Operations : public testing::TestWithParam<const char*> {};

TEST_P(Operations, ForEach2DVisitsEveryPairOnce) {
  for (int threads : {1, 2, 3}) {
    Context context(GetParam(), threads);
    for (const auto& [rows, columns] : kAwkward) {
      Tensor out(Shape{rows, columns});
      ForEach2D(context, rows, columns, RowColumn{out.Write(context), columns});
      const float* host = out.Read();
      for (int64_t i = 0; i < rows * columns; ++i) {
        ASSERT_EQ(host[i], static_cast<float>(1000 * (i / columns) + i % columns));
      }
    }
  }
}

TEST_P(Operations, ReductionsMatchALoopAndDoNotDependOnThreads) {
  for (const auto& [rows, columns] : kAwkward) {
    const Tensor in = Random(Shape{rows, columns}, 1);
    std::vector<float> first_rows, first_columns;
    for (int threads : {1, 2, 3}) {
      Context context(GetParam(), threads);
      Tensor by_row(Shape{rows}), by_column(Shape{columns}), max(Shape{rows});
      const LoadRowMajor load{in.Read(context), columns};
      ReduceRows<SumOf>(context, rows, columns, load, StoreScaled{by_row.Write(context), 1, 0});
      ReduceRows<MaxOf>(context, rows, columns, load, StoreScaled{max.Write(context), 1, 0});
      ReduceColumns<SumOf>(context, rows, columns, load,
                           StoreScaled{by_column.Write(context), 1, 0});
      if (threads == 1) {
        first_rows.assign(by_row.Read(), by_row.Read() + rows);
        first_columns.assign(by_column.Read(), by_column.Read() + columns);
      }
      const float* data = in.Read();
      std::vector<double> column_sum(columns);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        float most = -1;
        for (int64_t c = 0; c < columns; ++c) {
          sum += data[r * columns + c];
          column_sum[c] += data[r * columns + c];
          most = std::max(most, data[r * columns + c]);
        }
        ASSERT_NEAR(by_row.Read()[r], sum, 1e-5 * columns);
        ASSERT_EQ(max.Read()[r], most);
        ASSERT_EQ(by_row.Read()[r], first_rows[r]);
      }
      for (int64_t c = 0; c < columns; ++c) {
        ASSERT_NEAR(by_column.Read()[c], column_sum[c], 1e-5 * rows);
        ASSERT_EQ(by_column.Read()[c], first_columns[c]);
      }
    }
  }
}

void CheckGemm(Context& context, int64_t m, int64_t n, int64_t k) {
  for (int transposes = 0; transposes < 4; ++transposes) {
    const bool ta = transposes & 1, tb = transposes & 2;
    const Tensor a = Random(Shape{m, k}, 1), b = Random(Shape{k, n}, 2);
    Tensor c = Random(Shape{m, n}, 3);
    const std::vector<float> before(c.Read(), c.Read() + m * n);
    Gemm(context, ta, tb, m, n, k, 2, a.Read(context), b.Read(context), 0.5, c.ReadWrite(context));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0.5 * before[i * n + j];
        for (int64_t p = 0; p < k; ++p) {
          sum += 2.0 * a.Read()[ta ? p * m + i : i * k + p] * b.Read()[tb ? j * k + p : p * n + j];
        }
        ASSERT_NEAR(c.Read()[i * n + j], sum, 1e-5);
      }
    }
  }
}

// The larger ones are shared among threads by rows and by columns, with a rest.
TEST_P(Operations, GemmMatchesALoopForAllTransposes) {
  for (int threads : {1, 2, 3}) {
    Context context(GetParam(), threads);
    CheckGemm(context, 5, 7, 9);
    CheckGemm(context, 83, 50, 121);
    CheckGemm(context, 33, 130, 121);
  }
}

TEST_P(Operations, GemvMatchesALoop) {
  Context context(GetParam(), 2);
  const int64_t m = 5, n = 7;
  const Tensor a = Random(Shape{m, n}, 1), x = Random(Shape{n}, 2);
  Tensor y(Shape{m});
  Gemv(context, false, m, n, 1, a.Read(context), x.Read(context), 0, y.Write(context));
  for (int64_t i = 0; i < m; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += a.Read()[i * n + j] * x.Read()[j];
    ASSERT_NEAR(y.Read()[i], sum, 1e-5);
  }
}

struct MarkItem {
  float* out;
  MOKA_HD void operator()(int64_t i) const { out[i] += 1; }
};

TEST_P(Operations, ForItemsRunsEveryItemOnceAndPassesErrorsOn) {
  Context context(GetParam(), 3);
  Tensor out(Shape{7, 100});
  out.SetZero();
  float* data = out.ReadWrite(context);
  ForItems(context, 7, [&](Context& own, int64_t item, int worker) {
    EXPECT_LT(worker, ItemWorkers(context, 7));
    ForEach(own, 100, MarkItem{data + item * 100});
  });
  for (int64_t i = 0; i < 700; ++i) ASSERT_EQ(out.Read()[i], 1);
  EXPECT_THROW(ForItems(context, 7, [](Context&, int64_t item, int) { Require(item != 5, "5"); }),
               Error);
}

INSTANTIATE_TEST_SUITE_P(Devices, Operations, testing::Values("cpu", "shadow"));

TEST(Device, UnknownNamesAreErrors) {
  EXPECT_THROW(MakeDevice("gpu"), Error);
  EXPECT_THROW(MakeDevice("cuda:x"), Error);
}

}  // namespace
}  // namespace moka
