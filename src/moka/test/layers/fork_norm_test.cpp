#include <gtest/gtest.h>

#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(fork_layers, ForkNorm, "bn_", "segnet_", "pspnet_");

/// The layer in a net of its own: as it is after upgrades.
Net NetOf(const std::string& layer, Phase phase = TRAIN) {
  NetParameter param;
  ReadTextFrom(
      "layer { name: 'in' type: 'Input' top: 'a' input_param { shape { dim: 2 dim: 3 dim: 4 dim: 5 "
      "} } } layer { name: 'l' bottom: 'a' top: 'b' " +
          layer + " }",
      "case", &param);
  NetState state;
  state.set_phase(phase);
  return Net(param, state, std::make_shared<Context>());
}

std::vector<float> Rates(const Net& net) {
  std::vector<float> rates;
  for (const LearnableParam& param : net.learnable_params()) rates.push_back(param.lr_mult);
  return rates;
}

TEST(BatchNormScaleBias, LearnsScaleAndBias) {
  for (const Shape& shape : {Shape{9}, Shape{6, 5}, Shape{5, 3, 4}, Shape{3, 2, 3, 4}}) {
    CheckLayer(
        {"type: 'BatchNorm' name: 'bn' bottom: 'a' top: 'b' "
         "batch_norm_param { scale_bias: true scale_filler { value: 0.5 } }",
         {shape}});
  }
}

TEST(BatchNormScaleBias, HasGradientsWithStoredStatistics) {
  CheckLayer(
      {"type: 'BatchNorm' name: 'bn' bottom: 'a' top: 'b' batch_norm_param { scale_bias: "
       "true eps: 2 }",
       {Shape{5, 3, 4}},
       TEST});
}

TEST(BatchNormScaleBias, EpsOutsideOfTheRoot) {
  CheckLayer(
      {"type: 'BatchNorm' name: 'bn' bottom: 'a' top: 'b' batch_norm_param { eps: 0.5 "
       "add_eps_before_sqrt: false }",
       {Shape{4, 3, 5}}});
}

TEST(BatchNormScaleBias, StatisticsAreNotLearnedWhateverTheirEntriesSay) {
  const std::string five = "param {} param {} param {} param { lr_mult: 2 } param { lr_mult: 3 } ";
  EXPECT_EQ(Rates(NetOf("type: 'BatchNorm' batch_norm_param { scale_bias: true } " + five)),
            (std::vector<float>{0, 0, 0, 2, 3}));
  EXPECT_EQ(Rates(NetOf("type: 'BatchNorm' batch_norm_param { scale_bias: true }")),
            (std::vector<float>{0, 0, 0, 1, 1}));
}

TEST(BatchNormScaleBias, OlderFormHasItsEntriesInFront) {
  EXPECT_EQ(
      Rates(NetOf("type: 'BatchNorm' batch_norm_param { scale_filler { value: 1 } bias_filler "
                  "{ value: 0 } } param { lr_mult: 2 } param { lr_mult: 3 } param { lr_mult: "
                  "0 } param { lr_mult: 0 }")),
      (std::vector<float>{0, 0, 0, 2, 3}));
}

TEST(BNLayer, OfSegNet) {
  const std::string bn = "type: 'BN' name: 'bn' bottom: 'a' top: 'b' ";
  for (Phase phase : {TRAIN, TEST}) {
    CheckLayer({bn + "bn_param { shift_filler { value: 0.5 } }", {Shape{3, 4, 5}}, phase});
    CheckLayer({bn + "bn_param { bn_mode: INFERENCE scale_filler { value: 2 } }",
                {Shape{3, 4, 5}},
                phase});
  }
}

TEST(BNLayer, OfPspNet) {
  const std::string bn = "type: 'BN' name: 'bn' bottom: 'a' top: 'b' ";
  for (Phase phase : {TRAIN, TEST}) {
    CheckLayer({bn + "bn_param { slope_filler { value: 2 } eps: 0.5 }", {Shape{3, 4, 5}}, phase});
  }
}

TEST(BNLayer, FormsHaveTheirParams) {
  EXPECT_EQ(Rates(NetOf("type: 'BN'")), (std::vector<float>{1, 1}));
  EXPECT_EQ(Rates(NetOf("type: 'BN' bn_param { momentum: 0.5 }")),
            (std::vector<float>{1, 1, 0, 0}));
  EXPECT_EQ(Rates(NetOf("type: 'BN' param {} param {} param {} param {}")),
            (std::vector<float>{1, 1, 0, 0}));
  EXPECT_EQ(Rates(NetOf("type: 'BN' bn_param { frozen: true }")), (std::vector<float>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace moka
