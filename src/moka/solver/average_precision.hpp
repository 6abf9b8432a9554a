#pragma once

#include <string>
#include <vector>

namespace moka {

/// A box found: how sure the net was, and whether it was right.
struct JudgedBox {
  float score;
  bool right;
};

/// The average precision of boxes of one class, where there are `truths` true boxes: with boxes by
/// falling score, precision p(k) and recall r(k) after the first k of them,
///
///   11point      the mean over r = 0, 0.1, ..., 1 of the largest precision at a recall of at least
///                r (VOC 2007)
///   MaxIntegral  the integral over recall of the largest precision at that recall or above
///                (VOC 2012, ILSVRC)
///   Integral     sum over k of p(k) (r(k) - r(k - 1))
///
/// 0 without boxes or without true boxes. Boxes of equal score count in their order.
float AveragePrecision(std::vector<JudgedBox> boxes, int truths, const std::string& version);

/// Throws Error unless AveragePrecision knows the version.
void CheckAveragePrecision(const std::string& version);

}  // namespace moka
