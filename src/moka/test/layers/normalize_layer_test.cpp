#include <gtest/gtest.h>

#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

const std::string kLayer = "type: 'Normalize' bottom: 'a' top: 'b' norm_param { ";

TEST(NormalizeLayer, AcrossSpaceOrNotAndWithScalesSharedOrNot) {
  for (const char* fields :
       {"", "across_spatial: false", "channel_shared: false",
        "across_spatial: false channel_shared: false",
        "channel_shared: false scale_filler { type: 'uniform' min: -3 max: 3 }",
        "across_spatial: false channel_shared: false scale_filler { type: 'uniform' max: 5 }"}) {
    for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{3, 7}, Shape{1, 2, 1, 19}}) {
      CheckLayer({kLayer + fields + " }", {shape}});
    }
  }
}

TEST(NormalizeLayer, UsesAllThreads) {
  LayerCase large{kLayer + "across_spatial: false }", {Shape{2, 33, 17, 23}}};
  large.gradients = false;
  CheckLayer(large);
}

TEST(NormalizeLayer, DividesByTheNormOfAPlace) {
  // Place 0 has (3, 4), place 1 (-6, 8).
  const auto value = [](int, int64_t j) { return std::vector<float>{3, -6, 4, 8}[j]; };
  const std::vector<float> y = Output({kLayer + "across_spatial: false "
                                                "scale_filler { value: 20 } }",
                                       {Shape{1, 2, 1, 2}},
                                       TEST,
                                       value});
  EXPECT_EQ(y, (std::vector<float>{12, -12, 16, 16}));
}

TEST(NormalizeLayer, DividesByTheNormOfAnItem) {
  const auto value = [](int, int64_t j) { return std::vector<float>{1, 2, 2, 4, 0, 0, 0, 0}[j]; };
  const std::vector<float> y = Output({kLayer + "eps: 4 }", {Shape{2, 2, 1, 2}}, TEST, value});
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(y[i], value(0, i) / std::sqrt(29.0f));
  for (int i = 4; i < 8; ++i) EXPECT_EQ(y[i], 0);
}

TEST(NormalizeLayer, NeedsChannels) { ExpectError({kLayer + "}", {Shape{3}}}, {"N x C", "3"}); }

}  // namespace
}  // namespace moka
