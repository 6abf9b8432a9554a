#pragma once

#include "moka/data/transform.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/tensor/shape.hpp"

namespace moka {

/// The shape of a batch of pictures from a list, as far as the fields tell it: transformed, or else
/// resized. No axes if they do not. `param` is an ImageDataParameter or a DenseImageDataParameter.
template <typename Param>
Shape ListShape(const Param& param, const TransformationParameter& transform) {
  const std::vector<int64_t> image = ExpectedShape(transform);
  const int64_t height = image.empty() ? param.new_height() : image[1];
  const int64_t width = image.empty() ? param.new_width() : image[2];
  if (height == 0 || width == 0) return Shape();
  return Shape{param.batch_size(), param.is_color() ? 3 : 1, height, width};
}

}  // namespace moka
