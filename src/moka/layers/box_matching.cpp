#include "moka/layers/box_matching.hpp"

#include <algorithm>
#include <cmath>

#include "moka/layers/boxes.hpp"

namespace moka {
namespace {

constexpr float kLeastOverlap = 1e-6f;

bool InPicture(const Box& box) {
  const auto inside = [](float edge) { return edge >= 0 && edge <= 1; };
  return inside(box.xmin) && inside(box.ymin) && inside(box.xmax) && inside(box.ymax);
}

/// Overlaps of all boxes with one true box; 0 where a pair is out of the question.
using Overlaps = std::vector<std::vector<float>>;

Overlaps OverlapsOf(const std::vector<Box>& boxes, const Objects& truths,
                    const std::vector<bool>& wanted, Matches* matches) {
  Overlaps overlaps(truths.size());
  for (size_t t = 0; t < truths.size(); ++t) {
    if (!wanted[t]) continue;
    overlaps[t].assign(boxes.size(), 0);
    for (size_t b = 0; b < boxes.size(); ++b) {
      if (matches->truth[b] == kOutside) continue;
      const float overlap = Overlap(boxes[b], truths[t].box);
      if (!(overlap > kLeastOverlap)) continue;
      overlaps[t][b] = overlap;
      matches->overlap[b] = std::max(matches->overlap[b], overlap);
    }
  }
  return overlaps;
}

/// The first of the free boxes with the largest overlap; -1 if none overlaps.
int32_t BestFreeBox(const std::vector<float>& overlaps, const std::vector<int32_t>& truth_of) {
  int32_t best = -1;
  float largest = 0;
  for (size_t b = 0; b < overlaps.size(); ++b) {
    if (truth_of[b] == kNoMatch && overlaps[b] > largest) {
      largest = overlaps[b];
      best = static_cast<int32_t>(b);
    }
  }
  return best;
}

/// Each true box remembers its best free box and looks for another when that has been taken.
void MatchTruths(const Overlaps& overlaps, Matches* matches) {
  std::vector<int32_t> best(overlaps.size(), -1);
  for (size_t t = 0; t < overlaps.size(); ++t) best[t] = BestFreeBox(overlaps[t], matches->truth);
  for (;;) {
    int32_t chosen = -1;
    for (size_t t = 0; t < overlaps.size(); ++t) {
      if (best[t] < 0) continue;
      const float more = chosen < 0 ? 1 : overlaps[t][best[t]] - overlaps[chosen][best[chosen]];
      if (more > 0 || (more == 0 && best[t] < best[chosen])) chosen = static_cast<int32_t>(t);
    }
    if (chosen < 0) return;
    const int32_t taken = best[chosen];
    matches->truth[taken] = chosen;
    matches->overlap[taken] = overlaps[chosen][taken];
    best[chosen] = -1;
    for (size_t t = 0; t < overlaps.size(); ++t) {
      if (best[t] == taken) best[t] = BestFreeBox(overlaps[t], matches->truth);
    }
  }
}

void MatchOthers(const Overlaps& overlaps, float threshold, Matches* matches) {
  for (size_t b = 0; b < matches->truth.size(); ++b) {
    if (matches->truth[b] != kNoMatch) continue;
    float largest = 0;
    for (size_t t = 0; t < overlaps.size(); ++t) {
      if (overlaps[t].empty() || overlaps[t][b] < threshold || overlaps[t][b] <= largest) continue;
      largest = overlaps[t][b];
      matches->truth[b] = static_cast<int32_t>(t);
    }
  }
}

/// Whether the prior may be chosen by mining.
bool Eligible(const MultiBoxLossParameter& param, const Matches& matches, size_t prior) {
  if (matches.truth[prior] == kDifficult) return false;
  if (param.mining_type() == MultiBoxLossParameter::HARD_EXAMPLE) return true;
  return matches.truth[prior] == kNoMatch && matches.overlap[prior] < param.neg_overlap();
}

/// `order` without boxes that overlap one before them.
std::vector<int64_t> ThinnedOut(const std::vector<int64_t>& order, const std::vector<Box>& boxes,
                                const NonMaximumSuppressionParameter& nms) {
  std::vector<int64_t> first = order;
  if (nms.has_top_k() && nms.top_k() >= 0) {
    first.resize(std::min<size_t>(first.size(), nms.top_k()));
  }
  std::vector<Box> in_order;
  for (int64_t prior : first) in_order.push_back(boxes[prior]);
  std::vector<int64_t> kept;
  for (int64_t i : KeepApart(in_order, nms.nms_threshold())) kept.push_back(first[i]);
  return kept;
}

}  // namespace

int64_t Matches::Count() const {
  return std::count_if(truth.begin(), truth.end(), [](int32_t t) { return t >= 0; });
}

Matches MatchBoxes(const std::vector<Box>& boxes, const Objects& truths,
                   const std::vector<bool>& wanted, const MultiBoxLossParameter& param) {
  Matches matches{std::vector<int32_t>(boxes.size(), kNoMatch), std::vector<float>(boxes.size())};
  if (std::none_of(wanted.begin(), wanted.end(), [](bool one) { return one; })) return matches;
  if (param.ignore_cross_boundary_bbox()) {
    for (size_t b = 0; b < boxes.size(); ++b) {
      if (!InPicture(boxes[b])) matches.truth[b] = kOutside;
    }
  }
  const Overlaps overlaps = OverlapsOf(boxes, truths, wanted, &matches);
  MatchTruths(overlaps, &matches);
  if (param.match_type() == MultiBoxLossParameter::PER_PREDICTION) {
    MatchOthers(overlaps, param.overlap_threshold(), &matches);
  }
  if (param.ignore_difficult_gt()) {
    for (int32_t& truth : matches.truth) {
      if (truth >= 0 && truths[truth].difficult) truth = kDifficult;
    }
  }
  return matches;
}

std::vector<int32_t> MineExamples(const std::vector<float>& costs, const std::vector<Box>& boxes,
                                  const MultiBoxLossParameter& param, Matches* matches) {
  const bool hard = param.mining_type() == MultiBoxLossParameter::HARD_EXAMPLE;
  const auto wanted =
      hard ? static_cast<int64_t>(param.sample_size())
           : static_cast<int64_t>(static_cast<float>(matches->Count()) * param.neg_pos_ratio());
  std::vector<float> eligible(costs.size(), -INFINITY);
  for (size_t p = 0; p < costs.size(); ++p) {
    if (Eligible(param, *matches, p)) eligible[p] = costs[p];
  }
  const bool thin = param.has_nms_param() && param.nms_param().nms_threshold() > 0;
  std::vector<int64_t> order = BestFirst(eligible, -INFINITY, thin ? INT64_MAX : wanted);
  if (thin) order = ThinnedOut(order, boxes, param.nms_param());
  order.resize(std::min<size_t>(order.size(), wanted));
  std::sort(order.begin(), order.end());

  std::vector<int32_t> negatives;
  std::vector<bool> chosen(costs.size(), false);
  for (int64_t p : order) {
    chosen[p] = true;
    if (matches->truth[p] == kNoMatch) negatives.push_back(static_cast<int32_t>(p));
  }
  for (size_t p = 0; hard && p < costs.size(); ++p) {
    if (!chosen[p] && matches->truth[p] >= 0) matches->truth[p] = kNoMatch;
  }
  return negatives;
}

}  // namespace moka
