#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(act, Activation, "absval_", "bnll_", "clip_", "elu_", "exp_", "log_", "swish_",
            "threshold_");

LayerCase Case(const std::string& layer, const Shape& shape = {2, 33}) {
  return {layer + " bottom: 'a' top: 'b'", {shape}};
}

/// The values of the layer at -4, -1, 0.5, 4 and 8.
std::vector<float> At(const std::string& layer) {
  LayerCase points = Case(layer, {5});
  points.value = [](int, int64_t j) { return std::vector<float>{-4, -1, 0.5f, 4, 8}[j]; };
  return Output(points);
}

TEST(Activations, HaveRightGradientsInPlaceToo) {
  CheckLayer(Case("type: 'AbsVal'"));
  CheckLayer(Case("type: 'BNLL'"));
  CheckLayer(Case("type: 'Clip' clip_param { min: -1.5 max: 1.5 }"));
  CheckLayer(Case("type: 'ELU' elu_param { alpha: 1.3 }"));
  CheckLayer(Case("type: 'ELU' elu_param { alpha: -0.5 lambda: 1.1 }"));
  CheckLayer(Case("type: 'ELU' elu_param { alpha: 0 }"));
  CheckLayer(Case("type: 'SeLU'"));
  CheckLayer(Case("type: 'ReLU6'"));
  CheckLayer(Case("type: 'Mish'"));
  CheckLayer(Case("type: 'HardSwish'"));
  CheckLayer(Case("type: 'Swish' swish_param { beta: 1.7 }"));
  CheckLayer(Case("type: 'Exp' exp_param { base: 2 scale: 0.7 shift: 0.3 }"));
  CheckLayer(Case("type: 'Log' log_param { base: 3 scale: 0.5 shift: 2 }"));
  LayerCase threshold = Case("type: 'Threshold' threshold_param { threshold: 0.3 }");
  threshold.gradients = false;
  CheckLayer(threshold);
}

void ExpectNear(const std::vector<float>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-6 * std::fabs(expected[i]) + 1e-7) << i;
  }
}

TEST(Activations, OfForksFollowTheirFormulas) {
  ExpectNear(At("type: 'ReLU6'"), {0, 0, 0.5, 4, 6});
  ExpectNear(At("type: 'HardSwish'"), {0, -1.0 / 3, 0.5 * 3.5 / 6, 4, 8});
  std::vector<double> mish, selu, scaled;
  for (double x : {-4.0, -1.0, 0.5, 4.0, 8.0}) {
    mish.push_back(x * std::tanh(std::log1p(std::exp(x))));
    selu.push_back(1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)));
    scaled.push_back(2 * (x > 0 ? x : 0.5 * std::expm1(x)));
  }
  ExpectNear(At("type: 'Mish'"), mish);
  ExpectNear(At("type: 'SeLU'"), selu);
  ExpectNear(At("type: 'ELU' elu_param { alpha: 0.5 lambda: 2 }"), scaled);
}

TEST(MishLayer, IsItsArgumentForLargeOnes) {
  LayerCase large = Case("type: 'Mish'", {2});
  large.value = [](int, int64_t j) { return j == 0 ? 1e20f : -1e20f; };
  ExpectNear(Output(large), {1e20, 0});
}

TEST(Activations, RefuseWhatMakesNoSense) {
  ExpectError(Case("type: 'Log' log_param { base: 1 }"), {"base 1"});
  ExpectError(Case("type: 'Log' log_param { base: -2 }"), {"base -2"});
  ExpectError(Case("type: 'Exp' exp_param { base: 0 }"), {"base 0"});
  ExpectError(Case("type: 'Clip'"), {"clip_param.min"});
  ExpectError(Case("type: 'Clip' clip_param { min: 2 max: 1 }"), {"min 2 above max 1"});
  ExpectError({"type: 'AbsVal' bottom: 'a' top: 'a'", {Shape{3}}}, {"in place"});
}

}  // namespace
}  // namespace moka
