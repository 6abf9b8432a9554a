#pragma once

#include <array>
#include <vector>

#include "moka/data/box.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/tensor/blob.hpp"

namespace moka {

/// Four numbers that stand for a box relative to a prior.
using BoxOffsets = std::array<float, 4>;

/// A box that predictions are relative to, and the size of usual offsets.
struct Prior {
  Box box;
  BoxOffsets variance;
};

/// How boxes are written relative to priors (p: prior, b: box, c: centre, w: width, v: variance;
/// the same vertically):
///
///   CORNER       (b.xmin - p.xmin) / v0, (b.xmax - p.xmax) / v2
///   CENTER_SIZE  (b.cx - p.cx) / p.w / v0, log(b.w / p.w) / v2
///   CORNER_SIZE  (b.xmin - p.xmin) / p.w / v0, (b.xmax - p.xmax) / p.w / v2
///
/// The variances are left out where they are not part of the numbers. Liu et al., SSD (ECCV 2016).
class BoxCode {
 public:
  BoxCode() = default;
  BoxCode(PriorBoxParameter::CodeType type, bool uses_variance)
      : type_(type), uses_variance_(uses_variance) {}

  BoxOffsets Encode(const Box& box, const Prior& prior) const;
  Box Decode(const BoxOffsets& offsets, const Prior& prior) const;

 private:
  PriorBoxParameter::CodeType type_ = PriorBoxParameter::CORNER;
  bool uses_variance_ = true;
};

/// How many priors a blob holds, 1 x 2 x 4P: boxes, then variances. Throws Error for other shapes.
int64_t CountPriors(const Blob& blob);

/// The priors of such a blob, on the host.
std::vector<Prior> ReadPriors(const Blob& blob);

/// Row `row` of an array with four numbers a row.
inline BoxOffsets OffsetsAt(const float* data, int64_t row) {
  const float* at = data + 4 * row;
  return {at[0], at[1], at[2], at[3]};
}

}  // namespace moka
