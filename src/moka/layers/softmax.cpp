#include "moka/layers/softmax.hpp"

#include <cfloat>
#include <cmath>

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

// One position (outer, inner) at a time: the axis is short, the positions are many.
struct ForwardAt {
  AxisView view;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t begin = outer * view.axis * view.inner + inner;
    float max = -FLT_MAX;
    for (int64_t a = 0; a < view.axis; ++a) max = fmaxf(max, x[begin + a * view.inner]);
    float sum = 0;
    for (int64_t a = 0; a < view.axis; ++a) {
      const float e = expf(x[begin + a * view.inner] - max);
      y[begin + a * view.inner] = e;
      sum += e;
    }
    for (int64_t a = 0; a < view.axis; ++a) y[begin + a * view.inner] /= sum;
  }
};

struct BackwardAt {
  AxisView view;
  const float* y;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t begin = outer * view.axis * view.inner + inner;
    float dot = 0;
    for (int64_t a = 0; a < view.axis; ++a) {
      const int64_t i = begin + a * view.inner;
      dot += dy[i] * y[i];
    }
    for (int64_t a = 0; a < view.axis; ++a) {
      const int64_t i = begin + a * view.inner;
      dx[i] = y[i] * (dy[i] - dot);
    }
  }
};

}  // namespace

void SoftmaxForward(Context& context, const AxisView& view, const float* x, float* y) {
  ForEach2D(context, view.outer, view.inner, ForwardAt{view, x, y}, 8 * view.axis);
}

void SoftmaxBackward(Context& context, const AxisView& view, const float* y, const float* dy,
                     float* dx) {
  ForEach2D(context, view.outer, view.inner, BackwardAt{view, y, dy, dx}, 4 * view.axis);
}

}  // namespace moka
