#pragma once

#include <cstdint>
#include <vector>

#include "moka/layers/box_code.hpp"
#include "moka/layers/true_boxes.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// What stands in place of a true box's number.
constexpr int32_t kNoMatch = -1;
constexpr int32_t kOutside = -2;    // reaches over the picture's edge, and so is not matched
constexpr int32_t kDifficult = -3;  // matches a difficult object, and so is not to count

/// For each of some boxes: which true box it matches, and its largest overlap with any.
struct Matches {
  std::vector<int32_t> truth;
  std::vector<float> overlap;

  int64_t Count() const;
};

/// Matches boxes with the true boxes for which `wanted` is set. Each true box in turn, that with
/// the largest overlap of all first, gets its best free box. With PER_PREDICTION every other box
/// then matches the true box that it overlaps most, if by overlap_threshold at least. Of equal
/// overlaps the first box, then the first true box counts. With ignore_cross_boundary_bbox boxes
/// that reach over the edge take no part, with ignore_difficult_gt matches of difficult objects do
/// not count.
Matches MatchBoxes(const std::vector<Box>& boxes, const Objects& truths,
                   const std::vector<bool>& wanted, const MultiBoxLossParameter& param);

/// Which priors without a match are negatives, by mining_type (not NONE), from what each prior
/// costs:
///
///   MAX_NEGATIVE  the costliest of those that overlap all true boxes by less than neg_overlap,
///                 neg_pos_ratio for each match
///   HARD_EXAMPLE  those among the sample_size costliest of all; matches that are not among these
///                 are taken back
///
/// With nms_param boxes (whose costs are scores) that overlap a costlier one are passed over.
std::vector<int32_t> MineExamples(const std::vector<float>& costs, const std::vector<Box>& boxes,
                                  const MultiBoxLossParameter& param, Matches* matches);

}  // namespace moka
