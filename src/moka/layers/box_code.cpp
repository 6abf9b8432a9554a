#include "moka/layers/box_code.hpp"

#include <cmath>

#include "moka/base/error.hpp"

namespace moka {
namespace {

constexpr BoxOffsets kNoVariance = {1, 1, 1, 1};

float CenterX(const Box& box) { return (box.xmin + box.xmax) / 2; }
float CenterY(const Box& box) { return (box.ymin + box.ymax) / 2; }

/// What the differences of corners are measured in.
BoxOffsets CornerUnits(PriorBoxParameter::CodeType type, const Box& prior,
                       const BoxOffsets& variance) {
  const bool by_size = type == PriorBoxParameter::CORNER_SIZE;
  const float width = by_size ? prior.width() : 1, height = by_size ? prior.height() : 1;
  return {variance[0] * width, variance[1] * height, variance[2] * width, variance[3] * height};
}

}  // namespace

BoxOffsets BoxCode::Encode(const Box& box, const Prior& prior) const {
  const Box& p = prior.box;
  const BoxOffsets& v = uses_variance_ ? prior.variance : kNoVariance;
  if (type_ == PriorBoxParameter::CENTER_SIZE) {
    return {(CenterX(box) - CenterX(p)) / p.width() / v[0],
            (CenterY(box) - CenterY(p)) / p.height() / v[1],
            std::log(box.width() / p.width()) / v[2], std::log(box.height() / p.height()) / v[3]};
  }
  const BoxOffsets unit = CornerUnits(type_, p, v);
  return {(box.xmin - p.xmin) / unit[0], (box.ymin - p.ymin) / unit[1],
          (box.xmax - p.xmax) / unit[2], (box.ymax - p.ymax) / unit[3]};
}

Box BoxCode::Decode(const BoxOffsets& offsets, const Prior& prior) const {
  const Box& p = prior.box;
  const BoxOffsets& v = uses_variance_ ? prior.variance : kNoVariance;
  if (type_ == PriorBoxParameter::CENTER_SIZE) {
    const float x = v[0] * offsets[0] * p.width() + CenterX(p);
    const float y = v[1] * offsets[1] * p.height() + CenterY(p);
    const float half_width = std::exp(v[2] * offsets[2]) * p.width() / 2;
    const float half_height = std::exp(v[3] * offsets[3]) * p.height() / 2;
    return {x - half_width, y - half_height, x + half_width, y + half_height};
  }
  const BoxOffsets unit = CornerUnits(type_, p, v);
  return {p.xmin + unit[0] * offsets[0], p.ymin + unit[1] * offsets[1],
          p.xmax + unit[2] * offsets[2], p.ymax + unit[3] * offsets[3]};
}

int64_t CountPriors(const Blob& blob) {
  const Shape& shape = blob.shape();
  const bool fits = shape.axes() >= 3 && shape.Count(0, 2) == 2 && shape[1] == 2;
  Require(fits && shape.Count(2) % 4 == 0, "priors are 1 x 2 x 4P (boxes, then variances), but \"",
          blob.name(), "\" has shape ", shape);
  return shape.Count(2) / 4;
}

std::vector<Prior> ReadPriors(const Blob& blob) {
  const int64_t count = CountPriors(blob);
  const float* data = blob.data().Read();
  std::vector<Prior> priors(count);
  for (int64_t i = 0; i < count; ++i) {
    const BoxOffsets box = OffsetsAt(data, i);
    priors[i] = {{box[0], box[1], box[2], box[3]}, OffsetsAt(data, count + i)};
  }
  return priors;
}

}  // namespace moka
