#include <gtest/gtest.h>

#include <cmath>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(rcnn, Proposal, "proposal_");
MOKA_GOLDEN(rcnn, SmoothL1LossOHEM, "smooth_l1_ohem_");
MOKA_GOLDEN(rcnn, SoftmaxWithLossOHEM, "softmax_ohem");

constexpr char kProposal[] =
    "type: 'Proposal' bottom: 'scores' bottom: 'offsets' bottom: 'size' top: 'rois'";

/// Scores in no order, small offsets, an input of 60 x 70 pixels.
float Values(int bottom, int64_t j) {
  const float size[] = {60, 70, 1};
  if (bottom == 2) return size[j % 3];
  return static_cast<float>(j * 37 % 101) / (bottom == 0 ? 101.0f : 400.0f);
}

const std::vector<Shape> kProposalShapes = {Shape{1, 18, 4, 5}, Shape{1, 36, 4, 5}, Shape{1, 3}};

TEST(Proposal, OnAllDevices) {
  LayerCase proposal{kProposal, kProposalShapes, TEST, Values};
  proposal.gradients = false;
  CheckLayer(proposal);
}

TEST(Proposal, GivesNothingWhereAllRegionsAreTooSmall) {
  EXPECT_TRUE(Output({std::string(kProposal) + " proposal_param { min_size: 71 }", kProposalShapes,
                      TEST, Values})
                  .empty());
}

TEST(Proposal, RefusesWhatDoesNotFit) {
  ExpectError({kProposal, {Shape{1, 12, 4, 5}, Shape{1, 36, 4, 5}, Shape{1, 3}}},
              {"1 x 12 x 4 x 5", "9 anchors", "N x 18 x H x W"});
  ExpectError({kProposal, {Shape{1, 18, 4, 5}, Shape{1, 36, 5, 5}, Shape{1, 3}}},
              {"1 x 36 x 5 x 5", "1 x 36 x 4 x 5"});
  ExpectError({kProposal, {Shape{2, 18, 4, 5}, Shape{2, 36, 4, 5}, Shape{3, 3}}},
              {"3 x 3", "2 x 3"});
  ExpectError({kProposal, kProposalShapes, TEST,
               [](int bottom, int64_t j) {
                 return bottom == 0 && j == 207 ? std::nanf("") : Values(bottom, j);
               }},
              {"anchor 1 at (1, 2)", "not a number"});
  ExpectError({std::string(kProposal) + " proposal_param { ratio: 0 scale: 1 }", kProposalShapes},
              {"ratio is 0"});
}

TEST(SmoothL1LossOHEM, OnAllDevicesWithItsGradient) {
  const auto halves = [](int bottom, int64_t j) {
    if (bottom == 2) return static_cast<float>(j % 3);
    return bottom == 0 ? static_cast<float>(j % 5 - 2) : 0.5f;
  };
  const std::string layer = "type: 'SmoothL1LossOHEM' bottom: 'a' bottom: 'b' top: 'loss'";
  CheckLayer({layer, {Shape{3, 4, 2}, Shape{3, 4, 2}}, TRAIN, halves});
  CheckLayer({layer + " bottom: 'w'", {Shape{3, 8}, Shape{3, 8}, Shape{3, 8}}, TRAIN, halves});
  ExpectError({layer, {Shape{3}, Shape{3}}, TRAIN, halves}, {"R x C", "shape 3"});
}

TEST(SoftmaxWithLossOHEM, OnAllDevicesWithItsGradient) {
  const std::string layer = "type: 'SoftmaxWithLossOHEM' bottom: 'x' bottom: 'labels' top: 'loss' ";
  CheckLayer({layer, {Shape{5, 4, 2}, Shape{5, 2}}, TRAIN, Labels(1, 4)});
  LayerCase of_regions{
      layer + "top: 'p' top: 'of_regions'", {Shape{5, 4}, Shape{5}}, TRAIN, Labels(1, 4)};
  of_regions.gradients = false;  // none enters through these tops
  CheckLayer(of_regions);
}

constexpr char kAnnotator[] =
    "type: 'BoxAnnotatorOHEM' bottom: 'rois' bottom: 'losses' bottom: 'labels' bottom: 'weights' "
    "top: 'labels_out' top: 'weights_out' box_annotator_ohem_param { roi_per_img: 2 }";

/// Regions of samples 0, 1, 0, 1, 0, 0 with losses 1, 1, 4, NaN, 2, 2; labels and weights from 1.
float Annotated(int bottom, int64_t j) {
  const float losses[] = {1, 1, 4, std::nanf(""), 2, 2};
  const float samples[] = {0, 1, 0, 1, 0, 0};
  if (bottom == 0) return j % 5 == 0 ? samples[j / 5 % 6] : 0.0f;
  return bottom == 1 ? losses[j % 6] : static_cast<float>(j % 12 + 1);
}

TEST(BoxAnnotatorOHEM, KeepsTheMostCostlyOfEachSample) {
  LayerCase mining{kAnnotator, {Shape{6, 5}, Shape{6, 1}, Shape{6}, Shape{6, 2}}, TRAIN, Annotated};
  EXPECT_EQ(Output(mining), (std::vector<float>{-1, 2, 3, 4, 5, -1}));
  EXPECT_EQ(Output(mining, "weights_out"),
            (std::vector<float>{0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0}));
  mining.gradients = false;
  CheckLayer(mining);
}

TEST(BoxAnnotatorOHEM, RefusesBottomsOfDifferentSize) {
  ExpectError({kAnnotator, {Shape{6, 5}, Shape{6}, Shape{5}, Shape{6, 2}}, TRAIN, Annotated},
              {"\"labels\" (5)", "6 regions"});
  ExpectError({kAnnotator, {Shape{6, 4}, Shape{6}, Shape{6}, Shape{6, 2}}, TRAIN, Annotated},
              {"R x 5", "6 x 4"});
}

}  // namespace
}  // namespace moka
