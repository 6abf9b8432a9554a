#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(norm, LRN, "lrn_");

std::string Lrn(const std::string& fields) {
  return "type: 'LRN' bottom: 'a' top: 'b' lrn_param { " + fields + " }";
}

TEST(LRNLayer, BothRegionsWithAnyBeta) {
  for (const char* fields :
       {"", "local_size: 3 beta: 0.5 k: 2", "local_size: 11", "local_size: 1",
        "norm_region: WITHIN_CHANNEL local_size: 3", "norm_region: WITHIN_CHANNEL beta: 1"}) {
    CheckLayer({Lrn(fields), {Shape{2, 7, 5, 9}}});
  }
}

TEST(LRNLayer, FollowsItsFormula) {
  const std::vector<float> y = Output({Lrn("local_size: 3 alpha: 0.6 beta: 0.75 k: 2"),
                                       {Shape{1, 3, 1, 1}},
                                       TEST,
                                       [](int, int64_t j) { return j + 1.0f; }});
  EXPECT_FLOAT_EQ(y[0], std::pow(2 + 0.2f * (1 + 4), -0.75f));
  EXPECT_FLOAT_EQ(y[1], 2 * std::pow(2 + 0.2f * (1 + 4 + 9), -0.75f));
  EXPECT_FLOAT_EQ(y[2], 3 * std::pow(2 + 0.2f * (4 + 9), -0.75f));
}

TEST(LRNLayer, RefusesAnEvenSizeAndOtherThanImages) {
  ExpectError({Lrn("local_size: 4"), {Shape{1, 3, 6, 6}}}, {"local_size 4", "odd"});
  ExpectError({Lrn(""), {Shape{1, 3, 6}}}, {"N x C x H x W", "1 x 3 x 6"});
}

}  // namespace
}  // namespace moka
