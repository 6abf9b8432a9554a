#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {

/// The lengths of an array's axes, outermost first: N x C x H x W for images. No axes: one value.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::vector<int64_t>(dims)) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {
    for (int64_t dim : dims_)
      Require(dim >= 0, "an axis of length ", dim, " in ", Join(dims_, " x "));
  }

  int axes() const { return static_cast<int>(dims_.size()); }
  const std::vector<int64_t>& dims() const { return dims_; }

  /// The length of an axis; negative axes count from the end. Throws Error outside.
  int64_t operator[](int axis) const { return dims_[Axis(axis)]; }

  /// The axis as a number from 0: -1 is the last one. Throws Error outside [-axes, axes).
  int Axis(int axis) const {
    Require(axis >= -axes() && axis < axes(), "axis ", axis, " of a blob with ", axes(), " axes (",
            ToString(), ")");
    return axis < 0 ? axis + axes() : axis;
  }

  /// The number of values in axes [begin, end), 1 for none.
  int64_t Count(int begin, int end) const {
    int64_t count = 1;
    for (int axis = begin; axis < end; ++axis) count *= dims_[axis];
    return count;
  }
  int64_t Count(int begin) const { return Count(begin, axes()); }
  int64_t Count() const { return Count(0, axes()); }

  /// The length of an axis of an older, always 4-axis blob: 1 where the axis is missing.
  int64_t LegacyDim(int axis) const { return axis < axes() ? dims_[axis] : 1; }

  /// Axes [begin, end) as a shape of their own.
  Shape Slice(int begin, int end) const {
    return Shape(std::vector<int64_t>(dims_.begin() + begin, dims_.begin() + end));
  }

  /// The shape with axis `axis` of another length.
  Shape With(int axis, int64_t length) const {
    Shape changed = *this;
    changed.dims_[Axis(axis)] = length;
    return changed;
  }

  bool operator==(const Shape& other) const { return dims_ == other.dims_; }
  bool operator!=(const Shape& other) const { return dims_ != other.dims_; }

  /// "64 x 1 x 28 x 28", "scalar" without axes.
  std::string ToString() const { return dims_.empty() ? "scalar" : Join(dims_, " x "); }

 private:
  std::vector<int64_t> dims_;
};

inline std::ostream& operator<<(std::ostream& stream, const Shape& shape) {
  return stream << shape.ToString();
}

}  // namespace moka
