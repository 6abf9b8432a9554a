#include "moka/layers/yolo.hpp"

#include <climits>

#include "moka/base/error.hpp"

namespace moka {

YoloMap YoloMapOf(const Blob& bottom, int64_t anchors, int64_t classes, int64_t coords,
                  int64_t biases, const std::string& param) {
  Require(anchors > 0 && classes > 0, param, " asks for ", anchors, " anchors and ", classes,
          " classes: both must be positive");
  Require(coords == 4, param, ".coords is ", coords, ", but boxes have 4 numbers");
  Require(biases == 2 * anchors, param, " has ", biases, " biases, but ", anchors,
          " anchors need a width and a height each, ", 2 * anchors);
  const Shape& shape = bottom.shape();
  const int64_t channels = anchors * (5 + classes);
  Require(shape.axes() == 4 && shape[1] == channels && shape[2] * shape[3] <= INT_MAX, "bottom \"",
          bottom.name(), "\" has shape ", shape, ", but ", anchors, " anchors with ", classes,
          " classes need N x ", channels, " x H x W");
  return {anchors, classes, static_cast<int>(shape[2]), static_cast<int>(shape[3])};
}

}  // namespace moka
