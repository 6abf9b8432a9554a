#include <gtest/gtest.h>

#include "moka/test/golden.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(ssd, DetectionEvaluate, "detection_evaluate_");

/// A box found twice, one found nowhere near, and one of a difficult object.
LayerCase DetectionEvaluate(const std::string& fields) {
  LayerCase layer{
      "type: 'DetectionEvaluate' bottom: 'found' bottom: 'truths' top: 'e' "
      "detection_evaluate_param { num_classes: 3 " +
          fields + " }",
      {Shape{1, 1, 4, 7}, Shape{1, 1, 3, 8}},
      TEST};
  layer.gradients = false;
  layer.value = [](int bottom, int64_t j) {
    const float found[28] = {0, 1, 0.5f, 0.1f, 0.1f, 0.5f, 0.5f,  //
                             0, 1, 0.9f, 0.1f, 0.1f, 0.5f, 0.6f,  //
                             0, 1, 0.7f, 0.8f, 0.8f, 0.9f, 0.9f,  //
                             1, 2, 0.6f, 0.2f, 0.2f, 0.3f, 0.3f};
    const float truths[24] = {0,  1,  0,  0.1f, 0.1f, 0.5f, 0.5f, 0,  //
                              1,  2,  0,  0.2f, 0.2f, 0.3f, 0.3f, 1,  //
                              -1, -1, -1, -1,   -1,   -1,   -1,   -1};
    return bottom == 0 ? found[j % 28] : truths[j % 24];
  };
  return layer;
}

TEST(DetectionEvaluateLayer, JudgesBoxesByFallingConfidence) {
  const LayerCase layer = DetectionEvaluate("");
  CheckLayer(layer);
  EXPECT_EQ(Output(layer), (std::vector<float>{-1, 1, 1,    -1, -1,  //
                                               -1, 2, 1,    -1, -1,  //
                                               0,  1, 0.9f, 1,  0,   //
                                               0,  1, 0.7f, 0,  1,   //
                                               0,  1, 0.5f, 0,  1,   //
                                               1,  2, 0.6f, 1,  0}));
}

TEST(DetectionEvaluateLayer, DifficultObjectsDoNotCountIfUnwanted) {
  const std::vector<float> rows = Output(DetectionEvaluate("evaluate_difficult_gt: false"));
  EXPECT_EQ(rows[5 + 2], 0);  // no true boxes of class 2
  EXPECT_EQ(std::vector<float>(rows.end() - 2, rows.end()), (std::vector<float>{0, 0}));
}

// In pixels of a picture of 10 x 10 the box with confidence 0.9, 5 x 6 pixels with its edges, has
// 25 / 30 in common with the true one.
TEST(DetectionEvaluateLayer, OverlapsMayBeThoseOfPixels) {
  const ScratchFolder folder;
  WriteFile(folder / "sizes.txt", "a 10 10\nb 100 100\n");
  const std::string sizes = "name_size_file: '" + (folder / "sizes.txt") + "' ";
  EXPECT_EQ(Output(DetectionEvaluate(sizes + "overlap_threshold: 0.83"))[10 + 3], 1);
  EXPECT_EQ(Output(DetectionEvaluate(sizes + "overlap_threshold: 0.84"))[10 + 3], 0);
  EXPECT_EQ(Output(DetectionEvaluate("overlap_threshold: 0.81"))[10 + 3], 0);  // 0.16 / 0.2
}

TEST(DetectionEvaluateLayer, RefusesWhatDoesNotFit) {
  LayerCase layer = DetectionEvaluate("");
  layer.shapes[1] = Shape{1, 1, 4, 6};
  ExpectError(layer, {"truths", "1 x 1 x 4 x 6", "8 values a row"});
  ExpectError(DetectionEvaluate("background_label_id: 2"), {"label of the background, 2"});
  ExpectError(DetectionEvaluate("overlap_threshold: 0"), {"overlap_threshold is 0"});
}

}  // namespace
}  // namespace moka
