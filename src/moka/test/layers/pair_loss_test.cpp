#include <gtest/gtest.h>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(loss, EuclideanLoss, "euclidean_");

/// Differences of -2.5, -1.5, -0.5, 0.5 and 1.5; weights above 0.
float Halves(int bottom, int64_t j) {
  if (bottom > 1) return 0.5f + static_cast<float>(j % 3);
  return bottom == 0 ? static_cast<float>(j % 5 - 2) : 0.5f;
}

LayerCase Case(const std::string& fields, int bottoms, const Shape& shape) {
  std::string layer = fields + " name: 'loss' top: 'loss'";
  for (int i = 0; i < bottoms; ++i) layer += " bottom: 'b" + std::to_string(i) + "'";
  return {layer, std::vector<Shape>(bottoms, shape), TRAIN, Halves};
}

TEST(PairLoss, OfAllFunctionsAndSizes) {
  CheckLayer(Case("type: 'EuclideanLoss'", 2, Shape{3, 2, 4}));
  CheckLayer(Case("type: 'L1Loss' loss_weight: 0.5", 2, Shape{3, 7}));
  for (int bottoms : {2, 3, 4}) {
    CheckLayer(
        Case("type: 'SmoothL1Loss' smooth_l1_loss_param { sigma: 0.8 }", bottoms, Shape{3, 2, 4}));
  }
  LayerCase large = Case("type: 'EuclideanLoss'", 2, Shape{2, 20000});
  large.gradients = false;
  CheckLayer(large);
}

TEST(PairLoss, HasTheValuesOfItsFormula) {
  // Two items of five: sums of the five differences, twice, over 2.
  EXPECT_FLOAT_EQ(Output(Case("type: 'EuclideanLoss'", 2, Shape{2, 5}))[0], 11.25f / 2);
  EXPECT_FLOAT_EQ(Output(Case("type: 'L1Loss'", 2, Shape{2, 5}))[0], 6.5f);
  EXPECT_FLOAT_EQ(Output(Case("type: 'SmoothL1Loss'", 2, Shape{2, 5}))[0], 2 + 1 + 0.125f * 2 + 1);
  // One value: inside 0.5 makes -2.5 to -1.25, which sigma 2 takes as 1.25 - 1/8; outside is 0.5.
  EXPECT_FLOAT_EQ(
      Output(Case("type: 'SmoothL1Loss' smooth_l1_loss_param { sigma: 2 }", 4, Shape{1, 1}))[0],
      (1.25f - 0.125f) / 2);
}

TEST(PairLoss, RefusesBottomsOfDifferentSize) {
  LayerCase unequal = Case("type: 'EuclideanLoss'", 2, Shape{4, 5});
  unequal.shapes[1] = Shape{3, 5};
  ExpectError(unequal, {"loss", "EuclideanLoss", "4 x 5", "3 x 5"});
  ExpectError(Case("type: 'SmoothL1Loss' smooth_l1_loss_param { sigma: 0 }", 2, Shape{1}),
              {"sigma is 0"});
}

}  // namespace
}  // namespace moka
