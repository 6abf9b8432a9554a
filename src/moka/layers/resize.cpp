#include "moka/layers/resize.hpp"

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

/// Four neighbours of each output; a row is one (plane, output row).
struct Interpolate {
  Resizing resizing;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t plane = row / resizing.h.out;
    const ResizeAxis::Taps h = resizing.h.Of(row - plane * resizing.h.out);
    const ResizeAxis::Taps w = resizing.w.Of(column);
    const float* image = x + plane * resizing.plane_stride;
    const float* above = image + h.lower * resizing.row_stride;
    const float* below = image + h.upper * resizing.row_stride;
    const float upper = (1.0f - w.weight) * above[w.lower] + w.weight * above[w.upper];
    const float lower = (1.0f - w.weight) * below[w.lower] + w.weight * below[w.upper];
    y[row * resizing.w.out + column] = (1.0f - h.weight) * upper + h.weight * lower;
  }
};

/// Gathers output rows into input rows; a row is one (plane, input row).
struct GatherRows {
  ResizeAxis h;
  int64_t width;  // of the output
  const float* dy;
  float* sums;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t plane = row / h.in, i = row - plane * h.in;
    const float* first = dy + plane * h.out * width + column;
    float sum = 0;
    for (int64_t o = h.FirstReader(i); o < h.EndReader(i); ++o) {
      sum += h.Share(i, o) * first[o * width];
    }
    sums[row * width + column] = sum;
  }
};

/// Gathers output columns into input columns.
struct GatherColumns {
  Resizing resizing;
  const float* sums;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const ResizeAxis& w = resizing.w;
    const int64_t plane = row / resizing.h.in;
    const float* first = sums + row * w.out;
    float sum = 0;
    for (int64_t o = w.FirstReader(column); o < w.EndReader(column); ++o) {
      sum += w.Share(column, o) * first[o];
    }
    dx[plane * resizing.plane_stride + (row - plane * resizing.h.in) * resizing.row_stride +
       column] = sum;
  }
};

}  // namespace

void ResizeForward(Context& context, const Resizing& resizing, const float* x, float* y) {
  ForEach2D(context, resizing.planes * resizing.h.out, resizing.w.out, Interpolate{resizing, x, y},
            8);
}

void ResizeBackward(Context& context, const Resizing& resizing, const float* dy, float* dx) {
  const int64_t rows = resizing.planes * resizing.h.in, width = resizing.w.out;
  float* sums = context.Scratch(rows * width);
  ForEach2D(context, rows, width, GatherRows{resizing.h, width, dy, sums},
            2 * resizing.h.out / resizing.h.in + 1);
  ForEach2D(context, rows, resizing.w.in, GatherColumns{resizing, sums, dx},
            2 * width / resizing.w.in + 1);
}

}  // namespace moka
