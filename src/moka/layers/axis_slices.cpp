#include "moka/layers/axis_slices.hpp"

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

struct CopyRows {
  const float* from;
  int64_t from_stride;
  float* to;
  int64_t to_stride;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    to[row * to_stride + column] = from[row * from_stride + column];
  }
};

}  // namespace

void CopyIntoAxis(Context& context, const AxisView& part, const float* from, int64_t whole,
                  int64_t begin, float* to) {
  const int64_t length = part.axis * part.inner;
  ForEach2D(context, part.outer, length,
            CopyRows{from, length, to + begin * part.inner, whole * part.inner});
}

void CopyFromAxis(Context& context, const AxisView& part, const float* from, int64_t whole,
                  int64_t begin, float* to) {
  const int64_t length = part.axis * part.inner;
  ForEach2D(context, part.outer, length,
            CopyRows{from + begin * part.inner, whole * part.inner, to, length});
}

}  // namespace moka
