#include "moka/layers/im2col.hpp"

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

/// Map positions or pixels [begin, end) along each axis.
struct Box {
  int64_t begin[ConvWindow::kMaxAxes];
  int64_t end[ConvWindow::kMaxAxes];
};

/// Where a row (along the last axis) begins in an image's plane and in a map.
struct RowPlace {
  int64_t image = 0;
  int64_t map = 0;
  bool inside = true;  // of the image
};

constexpr int64_t kRunStep = 8;

/// Runs are often shorter than a call of memcpy is worth.
MOKA_HD void CopyRun(const float* from, int64_t stride, int64_t begin, int64_t end, float* to) {
  int64_t i = begin;
  if (stride == 1) {
    for (; i + kRunStep <= end; i += kRunStep) {
      for (int64_t k = 0; k < kRunStep; ++k) to[i + k] = from[i + k];
    }
  }
  for (; i < end; ++i) to[i] = from[i * stride];
}

MOKA_HD void ZeroRun(int64_t begin, int64_t end, float* to) {
  for (int64_t i = begin; i < end; ++i) to[i] = 0.0f;
}

MOKA_HD void AddRun(const float* from, int64_t stride, int64_t begin, int64_t end, float* to) {
  int64_t i = begin;
  if (stride == 1) {
    for (; i + kRunStep <= end; i += kRunStep) {
      for (int64_t k = 0; k < kRunStep; ++k) to[i + k] += from[i + k];
    }
  }
  for (; i < end; ++i) to[i * stride] += from[i];
}

/// A call works on a whole plane where threads are few, on a single element where they are many.
/// kAxes is the number of axes, 0 where it is known only when running.
template <int kAxes>
struct WindowKernel {
  ConvWindow window;
  bool whole;

  MOKA_HD int last() const { return (kAxes > 0 ? kAxes : window.axes) - 1; }

  /// The part of an array of that shape that call `piece` works on.
  MOKA_HD Box PieceOf(const int64_t* shape, int64_t piece) const {
    Box box = {};
    for (int axis = last(); axis >= 0; --axis) {
      const int64_t rest = whole ? 0 : piece / shape[axis];
      box.begin[axis] = whole ? 0 : piece - rest * shape[axis];
      box.end[axis] = whole ? shape[axis] : box.begin[axis] + 1;
      piece = rest;
    }
    return box;
  }

  /// The pixel that tap number `tap` sees at map position 0, along each axis.
  MOKA_HD void FirstPixel(int64_t tap, int64_t* first) const {
    for (int axis = last(); axis >= 0; --axis) {
      const int64_t rest = tap / window.kernel[axis];
      first[axis] = (tap - rest * window.kernel[axis]) * window.dilation[axis] - window.pad[axis];
      tap = rest;
    }
  }

  /// Narrows map positions [begin, end) to those that see pixels [low, high) along `axis`.
  MOKA_HD void Clip(int axis, int64_t first, int64_t low, int64_t high, int64_t* begin,
                    int64_t* end) const {
    const int64_t stride = window.stride[axis];
    const int64_t from = low > first ? (low - first + stride - 1) / stride : 0;
    const int64_t to = high > first ? (high - first + stride - 1) / stride : 0;
    if (*begin < from) *begin = from;
    if (*end > to) *end = to;
    if (*end < *begin) *end = *begin;
  }

  /// The number of rows in a box of map positions.
  MOKA_HD int64_t Rows(const Box& maps) const {
    int64_t rows = 1;
    for (int axis = 0; axis < last(); ++axis) rows *= maps.end[axis] - maps.begin[axis];
    return rows;
  }

  MOKA_HD RowPlace Row(const Box& maps, const int64_t* first, int64_t row) const {
    RowPlace place;
    int64_t map_step = window.map[last()], image_step = window.image[last()];
    for (int axis = last() - 1; axis >= 0; --axis) {
      const int64_t length = maps.end[axis] - maps.begin[axis];
      const int64_t above = axis == 0 ? 0 : row / length;
      const int64_t position = maps.begin[axis] + row - above * length;
      const int64_t pixel = first[axis] + position * window.stride[axis];
      place.inside = place.inside && pixel >= 0 && pixel < window.image[axis];
      place.map += position * map_step;
      place.image += pixel * image_step;
      map_step *= window.map[axis];
      image_step *= window.image[axis];
      row = above;
    }
    return place;
  }
};

template <int kAxes>
struct Im2colKernel : WindowKernel<kAxes> {
  const float* image;
  float* columns;

  Im2colKernel(const ConvWindow& window, bool whole, const float* from, float* to)
      : WindowKernel<kAxes>{window, whole}, image(from), columns(to) {}

  MOKA_HD void operator()(int64_t row, int64_t piece) const {
    const ConvWindow& window = this->window;
    const int last = this->last();
    const int64_t channel = row / window.taps;
    int64_t first[ConvWindow::kMaxAxes] = {};
    this->FirstPixel(row - channel * window.taps, first);
    const Box box = this->PieceOf(window.map, piece);
    int64_t begin = box.begin[last], end = box.end[last];
    this->Clip(last, first[last], 0, window.image[last], &begin, &end);
    const float* plane = image + channel * window.image_size + first[last];
    for (int64_t i = 0, rows = this->Rows(box); i < rows; ++i) {
      const RowPlace place = this->Row(box, first, i);
      float* out = columns + row * window.map_size + place.map;
      if (place.inside) {
        ZeroRun(box.begin[last], begin, out);
        CopyRun(plane + place.image, window.stride[last], begin, end, out);
        ZeroRun(end, box.end[last], out);
      } else {
        ZeroRun(box.begin[last], box.end[last], out);
      }
    }
  }
};

template <int kAxes>
struct Col2imKernel : WindowKernel<kAxes> {
  const float* columns;
  float* image;

  Col2imKernel(const ConvWindow& window, bool whole, const float* from, float* to)
      : WindowKernel<kAxes>{window, whole}, columns(from), image(to) {}

  MOKA_HD void operator()(int64_t channel, int64_t piece) const {
    float* plane = image + channel * this->window.image_size;
    if (this->whole) {
      ZeroRun(0, this->window.image_size, plane);
    } else {
      plane[piece] = 0.0f;
    }
    const Box pixels = this->PieceOf(this->window.image, piece);
    for (int64_t tap = 0; tap < this->window.taps; ++tap) AddTap(channel, tap, pixels, plane);
  }

  /// Adds what the windows' tap number `tap` gives to the pixels.
  MOKA_HD void AddTap(int64_t channel, int64_t tap, const Box& pixels, float* plane) const {
    const ConvWindow& window = this->window;
    const int last = this->last();
    const float* row = columns + (channel * window.taps + tap) * window.map_size;
    int64_t first[ConvWindow::kMaxAxes] = {};
    this->FirstPixel(tap, first);
    Box maps = {};
    for (int axis = 0; axis <= last; ++axis) {
      maps.end[axis] = window.map[axis];
      this->Clip(axis, first[axis], pixels.begin[axis], pixels.end[axis], &maps.begin[axis],
                 &maps.end[axis]);
    }
    for (int64_t i = 0, rows = this->Rows(maps); i < rows; ++i) {
      const RowPlace place = this->Row(maps, first, i);
      AddRun(row + place.map, window.stride[last], maps.begin[last], maps.end[last],
             plane + place.image + first[last]);
    }
  }
};

template <int kAxes>
void RunIm2col(Context& context, const ConvWindow& window, const float* image, float* columns) {
  const bool whole = context.kind() != DeviceKind::kCuda;
  ForEach2D(context, window.rows(), whole ? 1 : window.map_size,
            Im2colKernel<kAxes>(window, whole, image, columns), whole ? window.map_size : 1);
}

template <int kAxes>
void RunCol2im(Context& context, const ConvWindow& window, const float* columns, float* image) {
  const bool whole = context.kind() != DeviceKind::kCuda;
  ForEach2D(context, window.channels, whole ? 1 : window.image_size,
            Col2imKernel<kAxes>(window, whole, columns, image),
            window.taps * (whole ? window.map_size : 1));
}

}  // namespace

void Im2col(Context& context, const ConvWindow& window, const float* image, float* columns) {
  if (window.axes == 2) return RunIm2col<2>(context, window, image, columns);
  RunIm2col<0>(context, window, image, columns);
}

void Col2im(Context& context, const ConvWindow& window, const float* columns, float* image) {
  if (window.axes == 2) return RunCol2im<2>(context, window, columns, image);
  RunCol2im<0>(context, window, columns, image);
}

void Im2colNd(Context& context, const ConvWindow& window, const float* image, float* columns) {
  RunIm2col<0>(context, window, image, columns);
}

void Col2imNd(Context& context, const ConvWindow& window, const float* columns, float* image) {
  RunCol2im<0>(context, window, columns, image);
}

}  // namespace moka
