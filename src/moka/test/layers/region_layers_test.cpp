#include <gtest/gtest.h>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(rcnn, ROIPooling, "roi_pooling_");
MOKA_GOLDEN(rcnn, PSROIPooling, "psroi_pooling_");
MOKA_GOLDEN(rcnn, ROIAlign, "roi_align_");

constexpr char kROIPooling[] =
    "type: 'ROIPooling' bottom: 'x' bottom: 'rois' top: 'y' "
    "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }";
constexpr char kPSROIPooling[] =
    "type: 'PSROIPooling' bottom: 'x' bottom: 'rois' top: 'y' "
    "psroi_pooling_param { output_dim: 3 group_size: 2 spatial_scale: 0.5 }";
constexpr char kROIAlign[] =
    "type: 'ROIAlign' bottom: 'x' bottom: 'rois' top: 'y' "
    "roi_align_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }";

/// Feature values that differ by at least 0.05, in no order; regions of samples 0 and 1 that
/// overlap and cross edges.
float Values(int bottom, int64_t j) {
  if (bottom == 0) return 0.05f * static_cast<float>(j * 37 % 101) - 2;
  const float region = static_cast<float>(j / 5);
  const float fields[] = {static_cast<float>(j / 5 % 2), region - 2, 1.3f * region, region + 6.2f,
                          1.3f * region + 4.7f};
  return fields[j % 5];
}

TEST(RegionLayers, OnAllDevicesWithTheirGradients) {
  for (const char* layer : {kROIPooling, kPSROIPooling, kROIAlign}) {
    CheckLayer({layer, {Shape{2, 12, 5, 7}, Shape{6, 5}}, TRAIN, Values});
    CheckLayer({layer, {Shape{2, 12, 5, 7}, Shape{1, 5, 1, 1}}, TRAIN, Values});
  }
  CheckLayer({kROIPooling, {Shape{2, 600, 5, 7}, Shape{6, 5}}, TRAIN, Values, false});
}

TEST(ROIPooling, TakesTheLargestOfEachBin) {
  // The region covers elements 1..4 of 5 columns and rows 0..1: bins of 4/3 columns, 1..3, 2..4
  // and 3..5, of one row each.
  const auto value = [](int bottom, int64_t j) {
    const float region[] = {0, 2, 0, 8, 2};
    return bottom == 1 ? region[j] : static_cast<float>(j);
  };
  EXPECT_EQ(Output({kROIPooling, {Shape{1, 1, 3, 5}, Shape{1, 5}}, TEST, value}),
            (std::vector<float>{2, 3, 4, 7, 8, 9}));
}

TEST(RegionLayers, MakeNothingOfNoRegions) {
  for (const char* layer : {kROIPooling, kPSROIPooling, kROIAlign}) {
    LayerCase none{layer, {Shape{2, 12, 5, 7}, Shape{0, 5}}, TRAIN, Values};
    EXPECT_TRUE(Output(none).empty());
  }
}

TEST(RegionLayers, RefuseRegionsAndMapsThatDoNotFit) {
  const LayerCase in_third{kROIPooling, {Shape{1, 2, 5, 7}, Shape{4, 5}}, TEST, Values};
  ExpectError(in_third, {"region 1", "sample 1", "samples 0 to 0"});
  ExpectError({kROIPooling, {Shape{1, 2, 5, 7}, Shape{4, 4}}}, {"R x 5", "4 x 4"});
  ExpectError({kROIAlign, {Shape{1, 2, 5}, Shape{4, 5}}}, {"N x C x H x W", "1 x 2 x 5"});
  ExpectError({kPSROIPooling, {Shape{1, 10, 5, 7}, Shape{4, 5}}}, {"12 score maps", "1 x 10"});
  ExpectError(
      {"type: 'ROIPooling' bottom: 'x' bottom: 'rois' top: 'y'", {Shape{1, 2, 5, 7}, Shape{4, 5}}},
      {"0 x 0", "positive"});
}

}  // namespace
}  // namespace moka
