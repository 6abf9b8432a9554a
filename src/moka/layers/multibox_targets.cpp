#include "moka/layers/multibox_targets.hpp"

#include <algorithm>

#include "moka/base/error.hpp"

namespace moka {
namespace {

MultiBoxLossParameter::MiningType MiningOf(const MultiBoxLossParameter& param) {
  const bool off = param.has_do_neg_mining() && !param.do_neg_mining();
  return off && !param.has_mining_type() ? MultiBoxLossParameter::NONE : param.mining_type();
}

bool InPicture(float edge) { return edge >= 0 && edge <= 1; }

}  // namespace

MultiBoxTargets::MultiBoxTargets(const MultiBoxLossParameter& param)
    : param_(param),
      mining_(MiningOf(param)),
      code_(param.code_type(), !param.encode_variance_in_target()),
      location_classes_(param.share_location() ? 1 : param.num_classes()) {
  param_.set_mining_type(mining_);
}

bool MultiBoxTargets::NeedsOffsets() const {
  return !param_.use_prior_for_matching() || mining_ == MultiBoxLossParameter::HARD_EXAMPLE ||
         (Mines() && param_.has_nms_param() && !param_.use_prior_for_nms());
}

void MultiBoxTargets::Match(std::vector<Prior> priors, std::map<int64_t, Objects> truths,
                            int64_t items, const float* offsets) {
  priors_ = std::move(priors);
  truths_ = std::move(truths);
  offsets_ = offsets;
  matches_.resize(items);
  for (const auto& [item, of_item] : truths_) {
    Require(item >= 0 && item < items, "a true box belongs to item ", item, " of a batch of ",
            items);
    for (const Object& truth : of_item) LabelOf(truth);
  }
  for (int64_t item = 0; item < items; ++item) matches_[item] = MatchItem(item, truths_[item]);
  SetLabels();
}

float MultiBoxTargets::LabelOf(const Object& truth) const {
  Require(truth.label >= 0 && truth.label < static_cast<int>(param_.num_classes()),
          "a true box has label ", truth.label, ", but num_classes is ", param_.num_classes());
  return static_cast<float>(param_.map_object_to_agnostic() ? param_.background_label_id() + 1
                                                            : truth.label);
}

std::vector<Box> MultiBoxTargets::PriorBoxes() const {
  std::vector<Box> boxes;
  for (const Prior& prior : priors_) boxes.push_back(prior.box);
  return boxes;
}

std::vector<Box> MultiBoxTargets::PredictedBoxes(int64_t item, int64_t location) const {
  std::vector<Box> boxes;
  for (size_t p = 0; p < priors_.size(); ++p) {
    const BoxOffsets offsets = OffsetsAt(offsets_, Row(item, static_cast<int64_t>(p), location));
    boxes.push_back(code_.Decode(offsets, priors_[p]));
  }
  return boxes;
}

std::vector<Matches> MultiBoxTargets::MatchItem(int64_t item, const Objects& truths) const {
  const bool shared = param_.share_location();
  std::vector<Matches> matches(location_classes_);
  Matches of_priors;
  if (param_.use_prior_for_matching()) {
    of_priors = MatchBoxes(PriorBoxes(), truths, std::vector<bool>(truths.size(), true), param_);
  }
  for (int64_t location = 0; location < location_classes_; ++location) {
    const auto fits = [&](int32_t t) { return shared || truths[t].label == location; };
    if (param_.use_prior_for_matching()) {
      matches[location] = of_priors;
      for (int32_t& truth : matches[location].truth) {
        if (truth >= 0 && !fits(truth)) truth = kNoMatch;
      }
      continue;
    }
    std::vector<bool> wanted(truths.size());
    for (size_t t = 0; t < truths.size(); ++t) wanted[t] = fits(static_cast<int32_t>(t));
    matches[location] = MatchBoxes(PredictedBoxes(item, location), truths, wanted, param_);
  }
  return matches;
}

void MultiBoxTargets::SetLabels() {
  const auto priors = static_cast<int64_t>(priors_.size());
  labels_.assign(matches_.size() * priors_.size(),
                 static_cast<float>(param_.background_label_id()));
  for (size_t item = 0; item < matches_.size(); ++item) {
    float* labels = labels_.data() + static_cast<int64_t>(item) * priors;
    for (const Matches& matches : matches_[item]) {
      for (int64_t p = 0; p < priors; ++p) {
        const int32_t truth = matches.truth[p];
        if (truth >= 0) labels[p] = LabelOf(truths_.at(static_cast<int64_t>(item))[truth]);
        if (truth == kDifficult) labels[p] = kNoLabel;
      }
    }
  }
}

void MultiBoxTargets::Mine(const float* costs) {
  std::vector<float> of_priors(costs, costs + labels_.size());
  if (mining_ == MultiBoxLossParameter::HARD_EXAMPLE) {
    const LocationLoss loss{param_.loc_loss_type() == MultiBoxLossParameter::SMOOTH_L1};
    for (const LocationTarget& target : Locations()) {
      const BoxOffsets predicted = OffsetsAt(offsets_, target.row);
      for (int k = 0; k < 4; ++k) {
        of_priors[target.row] += loss.Value(target.weight[k] * (predicted[k] - target.offsets[k]));
      }
    }
  }
  const auto priors = static_cast<int64_t>(priors_.size());
  for (size_t item = 0; item < matches_.size(); ++item) {
    const auto begin = of_priors.begin() + static_cast<int64_t>(item) * priors;
    MineItem(static_cast<int64_t>(item), std::vector<float>(begin, begin + priors));
  }
}

void MultiBoxTargets::MineItem(int64_t item, const std::vector<float>& costs) {
  const bool thin = param_.has_nms_param() && !param_.use_prior_for_nms();
  Matches& matches = matches_[item][0];
  const std::vector<int32_t> negatives =
      MineExamples(costs, thin ? PredictedBoxes(item, 0) : PriorBoxes(), param_, &matches);
  std::vector<bool> counts(priors_.size());
  for (size_t p = 0; p < priors_.size(); ++p) counts[p] = matches.truth[p] >= 0;
  for (int32_t p : negatives) counts[p] = true;
  for (size_t p = 0; p < priors_.size(); ++p) {
    if (!counts[p]) labels_[Row(item, static_cast<int64_t>(p), 0)] = kNoLabel;
  }
}

LocationTarget MultiBoxTargets::TargetOf(int64_t row, const Prior& prior, const Box& box) const {
  LocationTarget target{row, code_.Encode(box, prior), {1, 1, 1, 1}};
  if (param_.encode_variance_in_target()) {
    for (int k = 0; k < 4; ++k) target.weight[k] = 1 / prior.variance[k];
  }
  if (param_.bp_inside()) {
    const Box matched =
        param_.use_prior_for_matching() ? prior.box : code_.Decode(OffsetsAt(offsets_, row), prior);
    const float edges[4] = {matched.xmin, matched.ymin, matched.xmax, matched.ymax};
    for (int k = 0; k < 4; ++k) {
      if (!InPicture(edges[k])) target.weight[k] = 0;
    }
  }
  return target;
}

std::vector<LocationTarget> MultiBoxTargets::Locations() const {
  std::vector<LocationTarget> targets;
  for (size_t item = 0; item < matches_.size(); ++item) {
    for (int64_t location = 0; location < location_classes_; ++location) {
      const std::vector<int32_t>& matched = matches_[item][location].truth;
      for (size_t p = 0; p < priors_.size(); ++p) {
        if (matched[p] < 0) continue;
        const auto at = static_cast<int64_t>(item);
        targets.push_back(TargetOf(Row(at, static_cast<int64_t>(p), location), priors_[p],
                                   truths_.at(at)[matched[p]].box));
      }
    }
  }
  return targets;
}

int64_t MultiBoxTargets::CountMatches() const {
  int64_t count = 0;
  for (const auto& of_item : matches_) {
    for (const Matches& matches : of_item) count += matches.Count();
  }
  return count;
}

}  // namespace moka
