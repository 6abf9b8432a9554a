#include <gtest/gtest.h>

#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(linear, Scale, "scale_");
MOKA_GOLDEN(linear, Bias, "bias_");
MOKA_GOLDEN(linear, Parameter, "parameter_");

TEST(ScaleLayer, AlongAnyAxes) {
  const std::string filler = "filler { type: 'uniform' min: 0.5 max: 2 } ";
  for (const char* fields :
       {"", "axis: -1", "axis: 1 num_axes: 2", "num_axes: 0", "bias_term: true",
        "axis: 2 num_axes: -1 bias_term: true bias_filler { value: 0.3 }"}) {
    CheckLayer({"type: 'Scale' bottom: 'a' top: 'b' scale_param { " + filler + fields + " }",
                {Shape{3, 4, 5}}});
  }
  CheckLayer({"type: 'Scale' bottom: 'a' top: 'b' scale_param { " + filler + "}", {Shape{3, 37}}});
}

TEST(ScaleLayer, WithFactorsOfASecondBottom) {
  for (const Shape& factor : {Shape{4}, Shape{4, 5}, Shape{}}) {
    CheckLayer({"type: 'Scale' bottom: 'a' bottom: 'f' top: 'b' scale_param { bias_term: true }",
                {Shape{3, 4, 5}, factor}});
  }
}

TEST(ScaleLayer, LearnsTheIdentityAtFirst) {
  const LayerCase plain{"type: 'Scale' bottom: 'a' top: 'b' scale_param { bias_term: true }",
                        {Shape{2, 3}},
                        TRAIN,
                        [](int, int64_t j) { return static_cast<float>(j); }};
  EXPECT_EQ(Output(plain), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(ScaleLayer, RefusesWhatDoesNotFit) {
  const std::string two = "type: 'Scale' bottom: 'a' bottom: 'f' top: 'b'";
  ExpectError({two, {Shape{2, 3, 6, 6}, Shape{4}}}, {"operand is 4", "2 x 3 x 6 x 6"});
  ExpectError({two + " scale_param { axis: 2 }", {Shape{2, 3, 6, 6}, Shape{6, 6, 2}}},
              {"past the last axis"});
  const std::string one = "type: 'Scale' bottom: 'a' top: 'b' scale_param ";
  ExpectError({one + "{ axis: 2 num_axes: 3 }", {Shape{2, 3, 6, 6}}},
              {"axis 2", "num_axes 3", "4 axes"});
  ExpectError({one + "{ num_axes: -2 }", {Shape{2, 3, 6, 6}}}, {"num_axes is -2"});
}

TEST(BiasLayer, AlongAnyAxes) {
  for (const char* fields : {"", "axis: 1 num_axes: -1", "num_axes: 0"}) {
    CheckLayer({Text("type: 'Bias' bottom: 'a' top: 'b' bias_param { filler { value: 0.4 } ",
                     fields, " }"),
                {Shape{3, 4, 5}}});
  }
  for (const Shape& bias : {Shape{4}, Shape{4, 5}, Shape{}}) {
    CheckLayer({"type: 'Bias' bottom: 'a' bottom: 'f' top: 'b'", {Shape{3, 4, 5}, bias}});
  }
}

TEST(ParameterLayer, NeedsAShape) {
  ExpectError({"type: 'Parameter' name: 'p' top: 'w'", {}}, {"Parameter", "parameter_param.shape"});
}

/// The first gradient that the layer's only param has after so many backward passes.
float GradientAfter(const std::string& layer, int passes) {
  NetParameter param;
  ReadTextFrom(
      "force_backward: true layer { name: 'in' type: 'Input' top: 'a' "
      "input_param { shape { dim: 2 dim: 3 } } } layer { name: 'learns' " +
          layer + " } layer { name: 'loss' type: 'EuclideanLoss' bottom: 'b' bottom: 'a' }",
      "case", &param);
  Net net(param, NetState(), std::make_shared<Context>());
  float* input = net.blob("a").data().Write();
  for (int i = 0; i < 6; ++i) input[i] = static_cast<float>(i + 1);
  Layer& learns = *net.layers()[net.LayerIndex("learns")].layer;
  float* values = learns.params()[0].blob->data().Write();
  for (int i = 0; i < 6; ++i) values[i] = 2;
  net.ClearParamDiffs();
  for (int i = 0; i < passes; ++i) {
    net.Forward();
    net.Backward();
  }
  return learns.params()[0].blob->diff().Read()[0];
}

// Caffe overwrites these gradients, which is wrong with iter_size and with shared params.
TEST(ScaleLayer, AddsUpGradientsOfParams) {
  for (const char* layer :
       {"type: 'Scale' bottom: 'a' top: 'b' scale_param { axis: 0 num_axes: -1 }",
        "type: 'Bias' bottom: 'a' top: 'b' bias_param { axis: 0 num_axes: -1 }",
        "type: 'Parameter' top: 'b' parameter_param { shape { dim: 2 dim: 3 } }"}) {
    SCOPED_TRACE(layer);
    const float once = GradientAfter(layer, 1);
    EXPECT_NE(once, 0);
    EXPECT_FLOAT_EQ(GradientAfter(layer, 2), 2 * once);
  }
}

}  // namespace
}  // namespace moka
