#include <gtest/gtest.h>

#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(ssd, MultiBoxLoss, "multibox_loss_");

constexpr int kPriors = 6, kClasses = 3;

/// Priors in a row, each with a width of 0.2 and a step of 0.15.
float PriorValue(int64_t j) {
  const int64_t prior = j / 4;
  if (prior >= kPriors) return j % 4 < 2 ? 0.1f : 0.2f;
  const float left = 0.15f * static_cast<float>(prior);
  const float box[4] = {left, 0.25f, left + 0.2f, 0.75f};
  return box[j % 4];
}

/// One object in item 0, two in item 1, one of which is difficult; and the padding of a batch.
float TrueValue(int64_t j) {
  const float rows[4][8] = {{0, 1, 0, 0.13f, 0.3f, 0.34f, 0.7f, 0},
                            {1, 2, 0, 0.02f, 0.2f, 0.2f, 0.8f, 0},
                            {1, 1, 0, 0.46f, 0.25f, 0.68f, 0.75f, 1},
                            {-1, -1, -1, -1, -1, -1, -1, -1}};
  return rows[j / 8][j % 8];
}

LayerCase MultiBoxLoss(const std::string& fields, const std::string& more = "") {
  LayerCase layer{
      "type: 'MultiBoxLoss' bottom: 'loc' bottom: 'conf' bottom: 'priors' bottom: 'truths' top: "
      "'l' " +
          more + " multibox_loss_param { num_classes: 3 code_type: CENTER_SIZE " + fields + " }",
      {Shape{2, kPriors * 4}, Shape{2, kPriors * kClasses}, Shape{1, 2, kPriors * 4},
       Shape{1, 1, 4, 8}}};
  layer.phase = TRAIN;
  layer.value = [](int bottom, int64_t j) {
    if (bottom == 2) return PriorValue(j);
    if (bottom == 3) return TrueValue(j);
    // Irregular, so that a small step changes no order of costs.
    return 2 * std::sin(0.7f * static_cast<float>(j * j + 1));
  };
  return layer;
}

TEST(MultiBoxLossLayer, GradientsAreThoseOfTheLoss) {
  for (const char* fields : {
           "",
           "mining_type: NONE",
           "loc_loss_type: L2 loc_weight: 0.3 conf_loss_type: LOGISTIC",
           "encode_variance_in_target: true loc_weight: 0.1",
           "bp_inside: true",
           "match_type: BIPARTITE neg_pos_ratio: 1",
           "use_difficult_gt: false",
           "ignore_difficult_gt: true",
           "mining_type: HARD_EXAMPLE sample_size: 3",
       }) {
    CheckLayer(MultiBoxLoss(fields));
  }
  CheckLayer(MultiBoxLoss("", "loss_weight: 2 loss_param { normalization: BATCH_SIZE }"));
}

TEST(MultiBoxLossLayer, LocationsAClassHaveTheirOwnGradients) {
  LayerCase layer = MultiBoxLoss("share_location: false mining_type: NONE");
  layer.shapes[0] = Shape{2, kPriors * 4 * kClasses};
  CheckLayer(layer);
}

// The terms add up: each is left out by a propagate_down that is false.
TEST(MultiBoxLossLayer, PropagateDownLeavesOutATerm) {
  const float both = Output(MultiBoxLoss(""))[0];
  const std::string off = "propagate_down: false ", on = "propagate_down: true ";
  const float location = Output(MultiBoxLoss("", on + off + off + off))[0];
  const float confidence = Output(MultiBoxLoss("", off + on + off + off))[0];
  EXPECT_GT(location, 0);
  EXPECT_GT(confidence, 0);
  EXPECT_FLOAT_EQ(both, location + confidence);
}

TEST(MultiBoxLossLayer, ABatchWithoutObjectsCostsNothing) {
  LayerCase layer = MultiBoxLoss("");
  layer.value = [](int bottom, int64_t j) { return bottom == 2 ? PriorValue(j) : -1.0f; };
  EXPECT_EQ(Output(layer)[0], 0);
  CheckLayer(layer);
}

TEST(MultiBoxLossLayer, DoNegMiningIsAnOlderNameOfMiningType) {
  EXPECT_EQ(Output(MultiBoxLoss("do_neg_mining: false")),
            Output(MultiBoxLoss("mining_type: NONE")));
  EXPECT_EQ(Output(MultiBoxLoss("do_neg_mining: true")), Output(MultiBoxLoss("")));
  ExpectError(MultiBoxLoss("do_neg_mining: true mining_type: NONE"), {"contradicts mining_type"});
}

TEST(MultiBoxLossLayer, RefusesWhatDoesNotFit) {
  ExpectError(MultiBoxLoss("share_location: false"), {"share_location", "mining_type to NONE"});
  ExpectError(MultiBoxLoss("neg_pos_ratio: 0"), {"neg_pos_ratio is 0"});
  ExpectError(MultiBoxLoss("mining_type: HARD_EXAMPLE sample_size: 0"), {"sample_size is 0"});
  ExpectError(MultiBoxLoss("map_object_to_agnostic: true"), {"2 classes", "num_classes is 3"});
  ExpectError(MultiBoxLoss("background_label_id: 2"), {"label of the background", "item 1"});
  LayerCase few = MultiBoxLoss("");
  few.shapes[1] = Shape{2, kPriors};
  ExpectError(few, {"conf", "2 x 6", "6 priors", "need 36 values"});
  LayerCase priors = MultiBoxLoss("");
  priors.shapes[2] = Shape{2, kPriors * 4};
  ExpectError(priors, {"1 x 2 x 4P", "2 x 24"});
  LayerCase unknown = MultiBoxLoss("");
  unknown.value = [](int bottom, int64_t j) {
    if (bottom < 3) return bottom == 2 ? PriorValue(j) : 0.0f;
    return j % 8 == 1 ? 7 * TrueValue(j) : TrueValue(j);
  };
  ExpectError(unknown, {"label 7", "num_classes is 3"});
}

}  // namespace
}  // namespace moka
