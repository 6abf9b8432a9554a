#include <gtest/gtest.h>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/test/golden.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(ssd, DetectionOutput, "detection_output_");

/// Two priors that do not meet, the left half and a quarter on the right; two items, three classes.
LayerCase DetectionOutput(const std::string& fields) {
  LayerCase layer{
      "type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: 'priors' top: 'found' "
      "detection_output_param { num_classes: 3 " +
          fields + " }",
      {Shape{2, 8}, Shape{2, 6}, Shape{1, 2, 8}},
      TEST};
  layer.gradients = false;
  layer.value = [](int bottom, int64_t j) {
    const float conf[12] = {0.1f, 0.2f, 0.7f, 0.3f, 0.6f, 0.1f, 0.8f, 0.1f, 0.1f, 0, 0.25f, 0.75f};
    const float priors[8] = {0, 0, 0.5f, 1, 0.5f, 0.5f, 1, 1};
    if (bottom == 0) return 0.0f;
    return bottom == 1 ? conf[j % 12] : j < 8 ? priors[j] : 0.1f;
  };
  return layer;
}

TEST(DetectionOutputLayer, GivesBoxesByItemAndLabel) {
  const LayerCase layer = DetectionOutput("confidence_threshold: 0.5");
  CheckLayer(layer);
  EXPECT_EQ(Output(layer), (std::vector<float>{0, 1, 0.6f,  0.5f, 0.5f, 1,    1,  //
                                               0, 2, 0.7f,  0,    0,    0.5f, 1,  //
                                               1, 2, 0.75f, 0.5f, 0.5f, 1,    1}));
}

// The highest confidence of each item is 0.7 and 0.75.
TEST(DetectionOutputLayer, KeepsTheBestOfAnItem) {
  EXPECT_EQ(Output(DetectionOutput("keep_top_k: 1")),
            (std::vector<float>{0, 2, 0.7f, 0, 0, 0.5f, 1, 1, 2, 0.75f, 0.5f, 0.5f, 1, 1}));
}

TEST(DetectionOutputLayer, ANegativeBackgroundIsNone) {
  EXPECT_EQ(Output(DetectionOutput("background_label_id: -1 confidence_threshold: 0.77")),
            (std::vector<float>{1, 0, 0.8f, 0, 0, 0.5f, 1}));
}

class DetectionFilesTest : public testing::Test {
 protected:
  DetectionFilesTest() {
    WriteFile(folder_ / "sizes.txt", "left 100 200\nright 10 40\n");
    WriteFile(folder_ / "labels.prototxt",
              "item { name: 'none' label: 0 }\n"
              "item { name: 'cat' label: 1 }\n"
              "item { name: '18' label: 2 display_name: 'dog' }\n");
  }

  LayerCase Saving(const std::string& format, const std::string& more = "") const {
    return DetectionOutput("confidence_threshold: 0.5 save_output_param { output_format: '" +
                           format + "' output_directory: '" + (folder_ / "out") +
                           "' output_name_prefix: 'found_' label_map_file: '" +
                           (folder_ / "labels.prototxt") + "' name_size_file: '" +
                           (folder_ / "sizes.txt") + "' " + more + " }");
  }

  std::string File(const std::string& name) const { return ReadFile(folder_ / ("out/" + name)); }

  ScratchFolder folder_;
};

TEST_F(DetectionFilesTest, OfVoc) {
  Output(Saving("VOC"));
  EXPECT_EQ(File("found_cat.txt"), "left 0.6 100 50 200 100\n");
  EXPECT_EQ(File("found_18.txt"), "left 0.7 0 0 100 100\nright 0.75 20 5 40 10\n");
}

TEST_F(DetectionFilesTest, OfIlsvrc) {
  Output(Saving("ILSVRC"));
  EXPECT_EQ(File("found_.txt"),
            "left 1 0.6 100 50 200 100\nleft 2 0.7 0 0 100 100\nright 2 0.75 20 5 40 10\n");
}

TEST_F(DetectionFilesTest, OfCocoWithNumbersAsNumbers) {
  Output(Saving("COCO"));
  EXPECT_EQ(File("found_.json"),
            "[\n"
            "{\"image_id\": \"left\", \"category_id\": \"cat\", \"bbox\": [100, 50, 100, 50], "
            "\"score\": 0.6},\n"
            "{\"image_id\": \"left\", \"category_id\": 18, \"bbox\": [0, 0, 100, 100], "
            "\"score\": 0.7},\n"
            "{\"image_id\": \"right\", \"category_id\": 18, \"bbox\": [20, 5, 20, 5], "
            "\"score\": 0.75}\n"
            "]\n");
}

// The picture of 200 x 100 fills the middle of a square, from 0.25 to 0.75: a box from its top to
// its bottom has the whole height.
TEST_F(DetectionFilesTest, OfPicturesThatWerePadded) {
  Output(
      Saving("VOC", "resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 300 width: 300 }"));
  EXPECT_EQ(File("found_cat.txt"), "left 0.6 100 50 200 100\n");
  EXPECT_EQ(File("found_18.txt"), "left 0.7 0 0 100 100\nright 0.75 20 5 40 10\n");
}

TEST_F(DetectionFilesTest, NeedAFormatAndEnoughPictures) {
  ExpectError(Saving("XML"), {"output_format is \"XML\"", "VOC, COCO and ILSVRC"});
  ExpectError(Saving("VOC", "num_test_image: 3"), {"2 pictures", "num_test_image is 3"});
  WriteFile(folder_ / "sizes.txt", "left 100 200\nright 10\n");
  ExpectError(Saving("VOC"), {"sizes.txt:2", "name, height and width"});
}

TEST(DetectionOutputLayer, RefusesWhatDoesNotFit) {
  LayerCase layer = DetectionOutput("");
  layer.shapes[1] = Shape{2, 4};
  ExpectError(layer, {"conf", "2 x 4", "2 priors", "need 12 values"});
  ExpectError(DetectionOutput("share_location: false"), {"loc", "2 x 8", "need 48 values"});
  ExpectError(DetectionOutput("nms_param { eta: 0 }"), {"eta is 0"});
  ExpectError(DetectionOutput("nms_param { nms_threshold: -1 }"), {"nms_threshold is -1"});
  ExpectError(DetectionOutput("nms_param { soft_nms: true }"), {"soft_nms"});
  layer = DetectionOutput("");
  layer.layer = "type: 'DetectionOutput' bottom: 'a' bottom: 'b' bottom: 'c' top: 'd'";
  ExpectError(layer, {"num_classes"});
}

}  // namespace
}  // namespace moka
