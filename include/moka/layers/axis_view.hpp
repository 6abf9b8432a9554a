#pragma once

#include <cstdint>

#include "moka/tensor/shape.hpp"

namespace moka {

/// An array seen around one axis: outer x axis x inner, row-major. Element (o, a, i) lies at
/// (o * axis + a) * inner + i.
struct AxisView {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner = 1;

  /// Throws Error when the shape has no such axis; negative axes count from the end.
  static AxisView Of(const Shape& shape, int axis) {
    const int at = shape.Axis(axis);
    return {shape.Count(0, at), shape[at], shape.Count(at + 1)};
  }
};

}  // namespace moka
