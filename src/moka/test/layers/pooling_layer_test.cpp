#include <cfloat>
#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(pool, Pooling, "pool_");

std::string Pool(const std::string& fields) {
  return "type: 'Pooling' bottom: 'a' top: 'b' pooling_param { " + fields + " }";
}

/// Different values everywhere, in a scrambled order, so that no step of finite differences changes
/// which one is largest.
float Scrambled(int, int64_t j) { return static_cast<float>((j * 7919 + 13) % 1009) / 20 - 25; }

std::vector<float> Pooled(const std::string& fields, const Shape& shape, Phase phase = TEST) {
  return Output({Pool(fields), {shape}, phase, [](int, int64_t j) { return j + 1.0f; }});
}

TEST(PoolingLayer, MaxWithAnyKernelStrideAndPadding) {
  // Rows of outputs shorter and longer than the blocks that are computed together.
  for (const char* fields :
       {"kernel_size: 2 stride: 2", "kernel_size: 3 stride: 2", "kernel_size: 3 stride: 1",
        "kernel_size: 3 stride: 2 pad: 1", "kernel_size: 3 stride: 1 pad: 1",
        "kernel_h: 2 kernel_w: 5 stride_h: 1 stride_w: 3", "kernel_size: 1 stride: 2",
        "kernel_size: 4 stride: 5", "global_pooling: true"}) {
    for (int64_t width : {5, 9, 20, 37, 71}) {
      CheckLayer({Pool(fields), {Shape{2, 1, 9, width}}, TRAIN, Scrambled});
    }
  }
}

TEST(PoolingLayer, AverageWithAnyKernelStrideAndPadding) {
  for (const char* fields :
       {"kernel_size: 2 stride: 2", "kernel_size: 3 stride: 2", "kernel_size: 3 stride: 1 pad: 1",
        "kernel_h: 2 kernel_w: 5 stride_h: 1 stride_w: 3", "global_pooling: true"}) {
    for (const char* method : {"pool: AVE ", "pool: AVE_EXC_PAD "}) {
      CheckLayer({Pool(std::string(method) + fields), {Shape{2, 2, 7, 19}}});
    }
  }
}

TEST(PoolingLayer, EqualsAPlainLoopOverWindows) {
  const int height = 11, width = 45;
  for (int kernel = 1; kernel <= 4; ++kernel) {
    for (int stride = 1; stride <= 3; ++stride) {
      const std::vector<float> y =
          Output({Pool(Text("kernel_size: ", kernel, " stride: ", stride, " round_mode: FLOOR")),
                  {Shape{1, 1, height, width}},
                  TEST,
                  Scrambled});
      size_t o = 0;
      for (int top = 0; top + kernel <= height; top += stride) {
        for (int left = 0; left + kernel <= width; left += stride) {
          float largest = -FLT_MAX;
          for (int h = top; h < top + kernel; ++h) {
            for (int w = left; w < left + kernel; ++w) {
              largest = std::max(largest, Scrambled(0, h * width + w));
            }
          }
          ASSERT_EQ(y[o++], largest) << kernel << " / " << stride << " at " << top << ", " << left;
        }
      }
      ASSERT_EQ(o, y.size());
    }
  }
}

TEST(PoolingLayer, TheSecondTopOfMaxIsThePlaceOfTheFirstLargestValue) {
  const LayerCase ties{
      "type: 'Pooling' bottom: 'a' top: 'b' top: 'places' pooling_param { kernel_size: 2 }",
      {Shape{1, 1, 3, 3}},
      TEST,
      [](int, int64_t) { return 4.0f; }};
  EXPECT_EQ(Output(ties, "places"), (std::vector<float>{0, 1, 3, 4}));
  // Row 0 comes before row 1, although column 0 of row 1 comes before column 1 of row 0.
  const LayerCase diagonal{
      "type: 'Pooling' bottom: 'a' top: 'b' top: 'places' pooling_param { kernel_size: 2 }",
      {Shape{1, 1, 2, 2}},
      TEST,
      [](int, int64_t j) { return j == 1 || j == 2 ? 5.0f : 0.0f; }};
  EXPECT_EQ(Output(diagonal, "places"), (std::vector<float>{1}));
}

TEST(PoolingLayer, RoundsDownWithCeilModeFalseAsWithRoundModeFloor) {
  const Shape shape{1, 1, 4, 4};
  EXPECT_EQ(Pooled("kernel_size: 3 stride: 2", shape), (std::vector<float>{11, 12, 15, 16}));
  EXPECT_EQ(Pooled("kernel_size: 3 stride: 2 round_mode: FLOOR", shape), std::vector<float>{11});
  EXPECT_EQ(Pooled("kernel_size: 3 stride: 2 ceil_mode: false", shape), std::vector<float>{11});
}

TEST(PoolingLayer, PadsEachSideByItself) {
  const Shape shape{1, 1, 2, 2};  // 1 2 / 3 4
  EXPECT_EQ(Pooled("kernel_size: 2 pad_l: 1", shape), (std::vector<float>{3, 4}));
  EXPECT_EQ(Pooled("kernel_size: 2 pad_b: 1", shape), (std::vector<float>{4, 4}));
  EXPECT_EQ(Pooled("kernel_size: 2 pad_t: 1", shape), (std::vector<float>{2, 4}));
  EXPECT_EQ(Pooled("kernel_size: 2 pad_r: 1 pool: AVE", shape), (std::vector<float>{2.5f, 1.5f}));
}

TEST(PoolingLayer, AverageCountsPaddingOrNot) {
  const Shape shape{1, 1, 1, 2};  // 1 2
  EXPECT_EQ(Pooled("kernel_h: 1 kernel_w: 2 pad_h: 0 pad_w: 1 pool: AVE", shape),
            (std::vector<float>{0.5f, 1.5f, 1}));
  for (const char* method : {"AVE_EXC_PAD", "AVE_TF"}) {
    EXPECT_EQ(Pooled(Text("kernel_h: 1 kernel_w: 2 pad_h: 0 pad_w: 1 pool: ", method), shape),
              (std::vector<float>{1, 1.5f, 2}));
  }
}

TEST(PoolingLayer, StochasticDrawsInProportionAndGivesTheMeanWhenTesting) {
  // 1 and 3 in each window: 3 is drawn three times out of four.
  const auto one_and_three = [](int, int64_t j) { return j % 2 == 0 ? 1.0f : 3.0f; };
  const std::string fields = "pool: STOCHASTIC kernel_h: 1 kernel_w: 2 stride_h: 1 stride_w: 2";
  LayerCase stochastic{Pool(fields), {Shape{1, 1, 100, 200}}, TRAIN, one_and_three};
  double threes = 0;
  for (float y : Output(stochastic)) {
    ASSERT_TRUE(y == 1 || y == 3) << y;
    threes += y == 3;
  }
  EXPECT_NEAR(threes / 10000, 0.75, 0.02);
  stochastic.phase = TEST;
  for (float y : Output(stochastic)) ASSERT_FLOAT_EQ(y, 2.5f);  // (1 + 9) / (1 + 3)
}

TEST(PoolingLayer, RefusesWhatDoesNotFit) {
  const std::vector<Shape> image{Shape{2, 3, 6, 6}};
  ExpectError({Pool(""), image}, {"needs kernel_size"});
  ExpectError({Pool("kernel_size: 0"), image}, {"kernel of 0"});
  ExpectError({Pool("kernel_size: 2 kernel_h: 2 kernel_w: 2"), image}, {"kernel", "kernel_h"});
  ExpectError({Pool("kernel_size: 2 pad: 1 pad_h: 1 pad_w: 1"), image}, {"pad_h"});
  ExpectError({Pool("kernel_size: 2 stride_h: 1"), image}, {"only one of stride_h and stride_w"});
  ExpectError({Pool("kernel_size: 2 stride: 0"), image}, {"stride 0"});
  ExpectError({Pool("kernel_size: 2 global_pooling: true"), image}, {"global_pooling"});
  ExpectError({Pool("kernel_size: 3 pad: 3"), image}, {"padding of 3", "kernel of 3"});
  ExpectError({Pool("kernel_size: 8 stride: 2"), image}, {"kernel of 8", "2 x 3 x 6 x 6"});
  ExpectError({Pool("pool: STOCHASTIC kernel_size: 2 pad: 1"), image}, {"STOCHASTIC", "padding"});
  ExpectError({Pool("kernel_size: 2"), {Shape{2, 3, 6}}}, {"N x C x H x W", "2 x 3 x 6"});
  ExpectError({"type: 'Pooling' bottom: 'a' top: 'b' top: 'c' pooling_param { pool: AVE "
               "kernel_size: 2 }",
               image},
              {"only MAX"});
}

}  // namespace
}  // namespace moka
