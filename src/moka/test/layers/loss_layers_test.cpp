#include <gtest/gtest.h>

#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(loss, SigmoidCrossEntropyLoss, "sigmoidce_");
MOKA_GOLDEN(loss, HingeLoss, "hinge_");
MOKA_GOLDEN(loss, MultinomialLogisticLoss, "multinomial_");
MOKA_GOLDEN(loss, InfogainLoss, "infogain_");

TEST(SigmoidCrossEntropyLossLayer, WithAndWithoutIgnoredTargets) {
  const std::string layer =
      "type: 'SigmoidCrossEntropyLoss' bottom: 'a' bottom: 't' top: 'loss' loss_param ";
  const auto value = [](int bottom, int64_t j) {
    return bottom == 0 ? 0.7f * static_cast<float>(j % 7 - 3) : static_cast<float>(j % 3) - 1;
  };
  CheckLayer({layer + "{}", {Shape{3, 5}, Shape{3, 5}}, TRAIN, value});
  for (const char* mode : {"FULL", "VALID", "NONE"}) {
    CheckLayer({layer + "{ ignore_label: -1 normalization: " + mode + " }",
                {Shape{3, 5}, Shape{3, 5}},
                TRAIN,
                value});
  }
  ExpectError({layer + "{}", {Shape{4, 5}, Shape{4, 6}}}, {"4 x 5", "4 x 6"});
}

// Caffe would leave out a target of 0.5 as if it were 0.
TEST(SigmoidCrossEntropyLossLayer, TakesSoftTargetsForWhatTheyAre) {
  const float loss = Output(
      {"type: 'SigmoidCrossEntropyLoss' bottom: 'a' bottom: 't' top: 'loss' "
       "loss_param { ignore_label: 0 }",
       {Shape{1, 2}, Shape{1, 2}},
       TRAIN,
       [](int bottom, int64_t j) { return bottom == 0 ? 0.0f : 0.5f * static_cast<float>(j); }})[0];
  EXPECT_FLOAT_EQ(loss, std::log(2.0f));
}

TEST(HingeLossLayer, WithBothNorms) {
  for (const char* norm : {"L1", "L2"}) {
    CheckLayer({Text("type: 'HingeLoss' bottom: 'a' bottom: 'l' top: 'loss' hinge_loss_param ",
                     "{ norm: ", norm, " }"),
                {Shape{5, 3, 2}, Shape{5}},
                TRAIN,
                Labels(1, 6)});
  }
  ExpectError({"type: 'HingeLoss' bottom: 'a' bottom: 'l'", {Shape{4, 5}, Shape{3}}},
              {"4 positions", "3 labels"});
}

const char kContrastive[] =
    "type: 'ContrastiveLoss' bottom: 'a' bottom: 'b' bottom: 's' top: 'loss' ";

/// Pairs are similar and others in turn.
float Pairs(int bottom, int64_t j) {
  if (bottom == 2) return static_cast<float>(j % 2);
  return bottom == 0 ? 0.3f * static_cast<float>(j % 4) : 0.1f * static_cast<float>(j % 7);
}

TEST(ContrastiveLossLayer, InBothVersions) {
  for (const char* fields : {"", "contrastive_loss_param { margin: 5 }",
                             "contrastive_loss_param { margin: 2 legacy_version: true }"}) {
    CheckLayer(
        {std::string(kContrastive) + fields, {Shape{6, 4}, Shape{6, 4}, Shape{6}}, TRAIN, Pairs});
  }
}

// Pairs at the distance 0.3: similar 0.09, others (1 - 0.3)^2 or 1 - 0.09.
TEST(ContrastiveLossLayer, HasTheValuesOfItsFormula) {
  const auto apart = [](int bottom, int64_t j) {
    return bottom == 2 ? static_cast<float>(j) : bottom == 0 ? 0.3f : 0.0f;
  };
  const std::vector<Shape> shapes{Shape{2, 1}, Shape{2, 1}, Shape{2}};
  EXPECT_NEAR(Output({kContrastive, shapes, TRAIN, apart})[0], (0.09 + 0.49) / 4, 1e-6);
  EXPECT_NEAR(Output({kContrastive + std::string("contrastive_loss_param { legacy_version: true }"),
                      shapes, TRAIN, apart})[0],
              (0.09 + 0.91) / 4, 1e-6);
}

TEST(ContrastiveLossLayer, RefusesFeaturesOfDifferentSize) {
  ExpectError({kContrastive, {Shape{4, 5}, Shape{4, 6}, Shape{4}}}, {"4 x 5", "4 x 6"});
  ExpectError({kContrastive, {Shape{4, 5}, Shape{4, 5}, Shape{3}}}, {"4 pairs", "3"});
}

TEST(MultinomialLogisticLossLayer, OnProbabilities) {
  const std::string layer = "type: 'MultinomialLogisticLoss' bottom: 'p' bottom: 'l' top: 'loss'";
  CheckLayer({layer, {Shape{4, 5}, Shape{4}}, TRAIN, [](int bottom, int64_t j) {
                return bottom == 0 ? 0.2f + 0.1f * static_cast<float>(j % 4)
                                   : static_cast<float>(j % 5);
              }});
  ExpectError({layer, {Shape{4, 5}, Shape{4, 5}}}, {"4 positions", "20 labels"});
}

TEST(InfogainLossLayer, WithTheMatrixAsBottom) {
  const std::string layer =
      "type: 'InfogainLoss' bottom: 'a' bottom: 'l' bottom: 'H' top: 'loss' loss_param ";
  CheckLayer({layer + "{ ignore_label: 1 }",
              {Shape{2, 4, 3}, Shape{2, 3}, Shape{4, 4}},
              TRAIN,
              Labels(1, 4)});
  ExpectError({layer + "{}", {Shape{2, 4}, Shape{2}, Shape{3, 3}}}, {"3 x 3", "4 x 4"});
  ExpectError({"type: 'InfogainLoss' bottom: 'a' bottom: 'l'", {Shape{2, 4}, Shape{2}}},
              {"third bottom", "infogain_loss_param.source"});
  ExpectError({"type: 'InfogainLoss' bottom: 'a' bottom: 'l' infogain_loss_param "
               "{ source: 'nowhere.binaryproto' }",
               {Shape{2, 4}, Shape{2}}},
              {"nowhere.binaryproto"});
}

}  // namespace
}  // namespace moka
