#pragma once

#include <cstdint>

#include "moka/base/vector_math.hpp"
#include "moka/data/box.hpp"
#include "moka/tensor/blob.hpp"

namespace moka {

/// What YOLO v2 predicts: for each of `anchors` at each place of a feature map (N x anchors (5 +
/// classes) x H x W) the channels x, y, w, h, confidence and classes, all before their functions.
struct YoloMap {
  int64_t anchors, classes;
  int height, width;

  MOKA_HD int64_t plane() const { return static_cast<int64_t>(height) * width; }
  MOKA_HD int64_t channels() const { return 5 + classes; }
  /// Where the first channel of an anchor (counted through all samples) lies at a place.
  MOKA_HD int64_t Begin(int64_t sample_anchor, int64_t place) const {
    return sample_anchor * channels() * plane() + place;
  }
};

/// A box as its centre and size, as shares of the picture.
struct CentredBox {
  float x, y, width, height;

  MOKA_HD Box Corners() const {
    return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
  }
};

/// The box that an anchor predicts at a place: `v` points to its first channel, `bias` to the
/// anchor's width and height in places. Its centre lies within the place.
MOKA_HD CentredBox PredictedBox(const YoloMap& map, const float* v, const float* bias,
                                int64_t place) {
  const int64_t plane = map.plane();
  const auto width = static_cast<float>(map.width), height = static_cast<float>(map.height);
  const int row = static_cast<int>(place) / map.width;
  const int column = static_cast<int>(place) - row * map.width;
  return {(static_cast<float>(column) + VectorSigmoid(v[0])) / width,
          (static_cast<float>(row) + VectorSigmoid(v[plane])) / height,
          VectorExp(v[2 * plane]) * bias[0] / width, VectorExp(v[3 * plane]) * bias[1] / height};
}

/// The classes' largest score before their softmax, and what all are together against it.
struct ClassSums {
  float largest;
  float sum;  // of exp(score - largest)

  MOKA_HD ClassSums(const YoloMap& map, const float* v) : sum(0) {
    const int64_t plane = map.plane();
    largest = v[5 * plane];
    for (int64_t c = 1; c < map.classes; ++c) largest = fmaxf(largest, v[(5 + c) * plane]);
    for (int64_t c = 0; c < map.classes; ++c) sum += VectorExp(v[(5 + c) * plane] - largest);
  }
};

/// The map of a bottom. Throws unless it has the channels of `anchors` anchors and `classes`, boxes
/// of 4 numbers, and `biases` holds a pair for each anchor; `param` is the name of the fields.
YoloMap YoloMapOf(const Blob& bottom, int64_t anchors, int64_t classes, int64_t coords,
                  int64_t biases, const std::string& param);

}  // namespace moka
