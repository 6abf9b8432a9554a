#include <cmath>

#include "moka/base/vector_math.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(act, TanH, "tanh_");
// power_inplace_scale records a bug of Caffe: see PowerLayer.InPlaceHasTheRightGradient.
class PowerGolden : public GoldenTest {};
TEST_P(PowerGolden, EqualsCaffe) {
  CheckGolden("act", std::get<0>(GetParam()), std::get<1>(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(
    Cases, PowerGolden,
    testing::Combine(testing::ValuesIn(GoldenNamesOf("act", {"power_"}, {"power_inplace_scale"})),
                     testing::Values("cpu", "shadow")),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

TEST(VectorMath, IsWithinTwoUnitsOfLibm) {
  for (double x = -87; x < 88.7; x += 0.00371) {
    const float argument = static_cast<float>(x);
    const float exact = static_cast<float>(std::exp(static_cast<double>(argument)));
    ASSERT_NEAR(VectorExp(argument) / exact, 1, 2.4e-7) << argument;
  }
  for (double x = -12; x < 12; x += 0.000737) {
    const float argument = static_cast<float>(x);
    const double tanh = std::tanh(static_cast<double>(argument));
    ASSERT_NEAR(VectorTanh(argument), tanh, 2.4e-7 * std::fabs(tanh) + 1e-38) << argument;
    const double sigmoid = 1 / (1 + std::exp(-static_cast<double>(argument)));
    ASSERT_NEAR(VectorSigmoid(argument) / sigmoid, 1, 2.4e-7) << argument;
  }
}

TEST(VectorMath, ReachesTheEndsOfTheRange) {
  EXPECT_EQ(VectorExp(0), 1);
  EXPECT_EQ(VectorExp(100), HUGE_VALF);
  EXPECT_EQ(VectorExp(-200), 0);
  EXPECT_NEAR(VectorExp(-95), std::exp(-95.0), 1e-44);
  EXPECT_TRUE(std::isnan(VectorExp(NAN)));
  EXPECT_EQ(VectorTanh(50), 1);
  EXPECT_EQ(VectorTanh(-50), -1);
  EXPECT_EQ(VectorTanh(1e-20f), 1e-20f);
  EXPECT_EQ(VectorSigmoid(-200), 0);
  EXPECT_EQ(VectorSigmoid(200), 1);
}

TEST(SigmoidLayer, OnOddSizes) {
  for (int64_t width : {1, 17, 8209}) {
    CheckLayer({"type: 'Sigmoid' bottom: 'a' top: 'b'", {Shape{1, width}}});
  }
}

TEST(TanHLayer, OnOddSizes) {
  for (int64_t width : {1, 17, 8209}) {
    CheckLayer({"type: 'TanH' bottom: 'a' top: 'b'", {Shape{1, width}}});
  }
}

TEST(PowerLayer, InPlaceHasTheRightGradient) {
  for (const char* fields :
       {"scale: 3 shift: 1", "power: 2 scale: 0.5 shift: 2", "power: 1.5 shift: 2",
        "power: -1 shift: 3", "power: 0", "scale: 0 shift: 2 power: 3"}) {
    CheckLayer({std::string("type: 'Power' bottom: 'a' top: 'b' power_param { ") + fields + " }",
                {Shape{2, 9}}});
  }
}

}  // namespace
}  // namespace moka
