#include <gtest/gtest.h>

#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(loss, SoftmaxWithLoss, "softmaxloss_");

const char kPlain[] = "type: 'SoftmaxWithLoss' name: 'loss' bottom: 'a' bottom: 'l' top: 'loss' ";

std::string With(const std::string& fields) { return kPlain + fields; }

TEST(SoftmaxWithLossLayer, OnFlatAndSpatialScores) {
  CheckLayer({kPlain, {Shape{5, 7}, Shape{5}}, TRAIN, Labels(1, 7)});
  CheckLayer({With("loss_param { ignore_label: 2 }"),
              {Shape{2, 4, 3, 5}, Shape{2, 3, 5}},
              TRAIN,
              Labels(1, 4)});
  CheckLayer({With("softmax_param { axis: 2 } loss_weight: 3"),
              {Shape{2, 3, 4}, Shape{2, 3}},
              TRAIN,
              Labels(1, 4)});
}

// Equal scores of two classes: each position has the loss log 2.
float LossOfEqualScores(const std::string& fields) {
  return Output({With(fields),
                 {Shape{2, 2, 3}, Shape{2, 3}},
                 TRAIN,
                 [](int bottom, int64_t j) { return bottom == 1 && j > 1 ? 1.0f : 0.0f; }})[0] /
         std::log(2.0f);
}

TEST(SoftmaxWithLossLayer, DividesAsTheNormalizationSays) {
  EXPECT_FLOAT_EQ(LossOfEqualScores(""), 1);
  EXPECT_FLOAT_EQ(LossOfEqualScores("loss_param { ignore_label: 0 }"), 1);
  EXPECT_FLOAT_EQ(LossOfEqualScores("loss_param { ignore_label: 0 normalization: FULL }"), 4 / 6.f);
  EXPECT_FLOAT_EQ(LossOfEqualScores("loss_param { normalization: BATCH_SIZE }"), 3);
  EXPECT_FLOAT_EQ(LossOfEqualScores("loss_param { normalize: false }"), 3);
  EXPECT_FLOAT_EQ(LossOfEqualScores("loss_param { normalization: NONE }"), 6);
  EXPECT_FLOAT_EQ(
      LossOfEqualScores("loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 12 }"), 0.5);
  EXPECT_FLOAT_EQ(
      LossOfEqualScores("loss_param { normalization: PRE_FIXED pre_fixed_normalizer: 0.5 }"), 6);
}

TEST(SoftmaxWithLossLayer, IsZeroWhereAllLabelsAreIgnored) {
  const LayerCase ignored{With("loss_param { ignore_label: 9 }"),
                          {Shape{3, 2}, Shape{3}},
                          TRAIN,
                          [](int bottom, int64_t) { return bottom == 1 ? 9.0f : 0.5f; }};
  EXPECT_EQ(Output(ignored)[0], 0);
  CheckLayer(ignored);
}

TEST(SoftmaxWithLossLayer, GivesProbabilitiesAsSecondTop) {
  const LayerCase two{"type: 'SoftmaxWithLoss' bottom: 'a' bottom: 'l' top: 'p' top: 'loss'",
                      {Shape{3, 4}, Shape{3}},
                      TRAIN,
                      Labels(1, 4),
                      false};
  CheckLayer(two);
  LayerCase one = two;
  one.layer = kPlain;
  EXPECT_EQ(Output(two), Output(one));
}

std::function<float(int, int64_t)> OneLabel(int64_t at, float label) {
  return [=](int bottom, int64_t j) { return bottom == 1 && j == at ? label : 0.0f; };
}

// promise 2
TEST(SoftmaxWithLossLayer, NamesTheFirstLabelThatIsNoClass) {
  for (const char* type : {"SoftmaxWithLoss", "Accuracy", "HingeLoss", "MultinomialLogisticLoss"}) {
    const std::string layer =
        Text("type: '", type, "' name: 'last' bottom: 'a' bottom: 'l' top: 'b'");
    ExpectError({layer, {Shape{4, 10}, Shape{4}}, TEST, OneLabel(2, 10), false},
                {"last", type, "label 10", "sample 2", "10 from 0 to 9", "ignore_label"});
    ExpectError({layer, {Shape{4, 10}, Shape{4}}, TEST, OneLabel(3, -1), false},
                {"last", type, "label -1", "sample 3"});
    ExpectError({layer, {Shape{4, 10}, Shape{4}}, TEST, OneLabel(0, NAN), false},
                {"last", type, "label nan", "sample 0"});
  }
  ExpectError({kPlain, {Shape{2, 3, 4}, Shape{2, 4}}, TEST, OneLabel(6, 3), false},
              {"label 3", "sample 1, position 2", "3 from 0 to 2"});
}

TEST(SoftmaxWithLossLayer, NeedsOneLabelAPosition) {
  ExpectError({kPlain, {Shape{2, 3, 6, 6}, Shape{2}}}, {"loss", "72 positions", "2 labels"});
}

}  // namespace
}  // namespace moka
