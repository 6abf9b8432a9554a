#include <gtest/gtest.h>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(yolo, Reorg, "reorg_");
MOKA_GOLDEN(yolo, RegionLoss, "region_");
MOKA_GOLDEN(yolo, YoloDetectionOutput, "yolo_detection_");

TEST(Reorg, BothWays) {
  for (const char* reverse : {"false", "true"}) {
    CheckLayer(
        {std::string("type: 'Reorg' bottom: 'x' top: 'y' reorg_param { reverse: ") + reverse + " }",
         {Shape{3, 8, 4, 6}}});
  }
}

TEST(Reorg, RefusesSidesAndChannelsThatStrideDoesNotDivide) {
  const std::string layer = "type: 'Reorg' bottom: 'x' top: 'y'";
  ExpectError({layer, {Shape{1, 4, 4, 5}}}, {"stride 2", "1 x 4 x 4 x 5"});
  ExpectError({layer, {Shape{1, 6, 4, 4}}}, {"multiple of stride^2 = 4", "1 x 6 x 4 x 4"});
  ExpectError({layer, {Shape{1, 6, 4}}}, {"N x C x H x W", "1 x 6 x 4"});
}

std::string RegionLoss(const std::string& fields, const std::string& sizes) {
  return "type: 'RegionLoss' bottom: 'x' bottom: 'label' top: 'loss' region_loss_param { biases: "
         "1.2 "
         "biases: 0.9 biases: 0.6 biases: 1.7 " +
         sizes + " " + fields + " }";
}

/// Two anchors, three classes.
std::string RegionLoss(const std::string& fields) {
  return RegionLoss(fields, "num: 2 num_class: 3");
}

/// Two boxes of classes 2 and 1 in each sample, and an empty row.
float Values(int bottom, int64_t j) {
  if (bottom == 0) return static_cast<float>(j * 29 % 61) / 40 - 0.7f;
  const float boxes[] = {2, 0.3f, 0.4f, 0.4f, 0.2f, 1, 0.8f, 0.7f, 0.3f, 0.5f, 0, 0, 0, 0, 0};
  return boxes[j % 15];
}

const std::vector<Shape> kRegionShapes = {Shape{2, 16, 3, 4}, Shape{2, 3, 5}};

// The overlap is a constant to the gradient, so that only rescore 0 has finite differences.
TEST(RegionLoss, OnAllDevicesWithItsGradient) {
  for (const char* fields : {"", "softmax: 0", "bias_match: 0", "thresh: 0.9"}) {
    const std::string exact = std::string("rescore: 0 ") + fields;
    CheckLayer({RegionLoss(exact), kRegionShapes, TRAIN, Values});
    CheckLayer({RegionLoss(exact), kRegionShapes, TEST, Values});
  }
  LayerCase rescored{RegionLoss(""), kRegionShapes, TRAIN, Values};
  rescored.gradients = false;
  CheckLayer(rescored);
}

TEST(RegionLoss, RefusesWhatDoesNotFit) {
  ExpectError({RegionLoss("", "num: 3 num_class: 3"), kRegionShapes, TEST, Values},
              {"3 anchors", "6"});
  ExpectError({RegionLoss("coords: 5"), kRegionShapes, TEST, Values}, {"coords is 5"});
  ExpectError({RegionLoss("", "num: 2 num_class: 4"), kRegionShapes, TEST, Values},
              {"2 x 16 x 3 x 4", "N x 18 x H x W"});
  ExpectError({RegionLoss(""), {Shape{2, 16, 3, 4}, Shape{2, 3, 4}}, TEST, Values},
              {"2 x 3 x 4", "2 x G x 5", "1 x 1 x G x 8"});
  LayerCase no_class{RegionLoss(""), kRegionShapes, TEST, [](int bottom, int64_t j) {
                       return bottom == 1 && j == 20 ? 3.0f : Values(bottom, j);
                     }};
  ExpectError(no_class, {"box 1 of sample 1", "class 3", "num_class is 3"});
}

TEST(YoloDetectionOutput, RefusesMissingBiases) {
  ExpectError({"type: 'YoloDetectionOutput' bottom: 'x' top: 'y'", {Shape{1, 125, 3, 3}}},
              {"0 biases", "10"});
}

}  // namespace
}  // namespace moka
