#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "moka/layers/box_code.hpp"
#include "moka/layers/box_matching.hpp"
#include "moka/layers/smooth_l1.hpp"
#include "moka/layers/true_boxes.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The loss of one coordinate, from its difference to the target.
struct LocationLoss {
  bool smooth;  // SMOOTH_L1, else half the square
  MOKA_HD float Value(float d) const { return smooth ? SmoothMagnitude().Value(d) : 0.5f * d * d; }
  MOKA_HD float Slope(float d) const { return smooth ? SmoothMagnitude().Slope(d) : d; }
};

/// What one predicted location is to become: weight * (prediction - offsets) is to be 0.
struct LocationTarget {
  int64_t row;  // of the predictions: (item * priors + prior) * location classes + location class
  BoxOffsets offsets;
  BoxOffsets weight;
};

/// What the predictions of a batch are to become, by multibox_loss_param. All of it is decided on
/// the host: Match, then Mine where there is mining, then the results.
class MultiBoxTargets {
 public:
  /// The label of a prior whose confidences do not count.
  static constexpr float kNoLabel = -1;

  explicit MultiBoxTargets(const MultiBoxLossParameter& param);

  /// Whether Match and Mine look at the predicted offsets.
  bool NeedsOffsets() const;
  bool Mines() const { return mining_ != MultiBoxLossParameter::NONE; }

  /// Begins a batch of `items`. `offsets` may be null unless NeedsOffsets. Throws Error for true
  /// boxes of classes or items that are not there.
  void Match(std::vector<Prior> priors, std::map<int64_t, Objects> truths, int64_t items,
             const float* offsets);

  /// Chooses examples by what the confidences of each prior of each item cost under `labels`.
  void Mine(const float* costs);

  /// The class of each prior of each item, kNoLabel for those that do not count.
  const std::vector<float>& labels() const { return labels_; }

  std::vector<LocationTarget> Locations() const;

  /// How many priors are matched.
  int64_t CountMatches() const;

 private:
  std::vector<Matches> MatchItem(int64_t item, const Objects& truths) const;
  void SetLabels();
  void MineItem(int64_t item, const std::vector<float>& costs);
  float LabelOf(const Object& truth) const;
  int64_t Row(int64_t item, int64_t prior, int64_t location) const {
    return (item * static_cast<int64_t>(priors_.size()) + prior) * location_classes_ + location;
  }
  std::vector<Box> PriorBoxes() const;
  std::vector<Box> PredictedBoxes(int64_t item, int64_t location) const;
  LocationTarget TargetOf(int64_t row, const Prior& prior, const Box& box) const;

  MultiBoxLossParameter param_;
  MultiBoxLossParameter::MiningType mining_;
  BoxCode code_;
  int64_t location_classes_;

  // Of the present batch.
  std::vector<Prior> priors_;
  std::map<int64_t, Objects> truths_;
  const float* offsets_ = nullptr;
  std::vector<std::vector<Matches>> matches_;  // by item and location class
  std::vector<float> labels_;
};

}  // namespace moka
