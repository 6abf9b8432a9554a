#include "moka/layers/im2col.hpp"

#include "moka/device/for_each.hpp"
#include "moka/layers/runs.hpp"

namespace moka {
namespace {

/// Two axes, a few threads: a call lays out the taps of one row of one channel's kernel, plane
/// after plane.
struct Im2colPlanes {
  ConvWindow window;
  const float* image;
  float* columns;

  MOKA_HD void operator()(int64_t channel_row, int64_t) const {
    const int64_t height = window.map[0], width = window.map[1], image_width = window.image[1];
    const int64_t channel = channel_row / window.kernel[0];
    const int64_t tap_y = channel_row - channel * window.kernel[0];
    const TapRange ys = window.Range(0, tap_y, 0, window.image[0]);
    const float* in = image + channel * window.image_size +
                      (ys.first + ys.begin * window.stride[0]) * image_width;
    float* out = columns + channel_row * window.kernel[1] * window.map_size;
    for (int64_t tap_x = 0; tap_x < window.kernel[1]; ++tap_x, out += window.map_size) {
      const TapRange xs = window.Range(1, tap_x, 0, image_width);
      ZeroRun(ys.begin * width, out);
      CopyRows(in + xs.first, window.stride[0] * image_width, window.stride[1], ys.count(), xs,
               width, out + ys.begin * width);
      ZeroRun((height - ys.end) * width, out + ys.end * width);
    }
  }

  /// Rows of a map, each with its part inside the image and zeros beside it.
  MOKA_HD static void CopyRows(const float* in, int64_t in_step, int64_t stride, int64_t rows,
                               const TapRange& xs, int64_t width, float* out) {
    in += xs.begin * stride;
    for (int64_t row = 0; row < rows; ++row, in += in_step, out += width) {
      if (xs.begin > 0) ZeroRun(xs.begin, out);
      CopyRun(in, stride, xs.count(), out + xs.begin);
      if (xs.end < width) ZeroRun(width - xs.end, out + xs.end);
    }
  }
};

/// Two axes, a few threads: a call gathers all taps of one channel.
struct Col2imPlanes {
  ConvWindow window;
  const float* columns;
  float* image;

  MOKA_HD void operator()(int64_t channel, int64_t) const {
    float* plane = image + channel * window.image_size;
    const float* in = columns + channel * window.taps * window.map_size;
    ZeroRun(window.image_size, plane);
    for (int64_t tap_y = 0; tap_y < window.kernel[0]; ++tap_y) {
      const TapRange ys = window.Range(0, tap_y, 0, window.image[0]);
      float* out = plane + (ys.first + ys.begin * window.stride[0]) * window.image[1];
      for (int64_t tap_x = 0; tap_x < window.kernel[1]; ++tap_x, in += window.map_size) {
        const TapRange xs = window.Range(1, tap_x, 0, window.image[1]);
        AddRows(in + ys.begin * window.map[1] + xs.begin, window.map[1], window.stride[1],
                ys.count(), xs.count(), out + xs.first + xs.begin * window.stride[1],
                window.stride[0] * window.image[1]);
      }
    }
  }

  MOKA_HD static void AddRows(const float* in, int64_t in_step, int64_t stride, int64_t rows,
                              int64_t count, float* out, int64_t out_step) {
    for (int64_t row = 0; row < rows; ++row, in += in_step, out += out_step) {
      AddRun(in, 1.0f, stride, count, out);
    }
  }
};

/// Any number of axes. A call works on a whole plane where threads are few, on a single element
/// where they are many.
struct AnyAxes {
  ConvWindow window;
  bool whole;

  /// The numbers of element `index` of an array of that shape along each axis.
  MOKA_HD void Split(const int64_t* shape, int64_t index, int64_t* at) const {
    for (int axis = window.axes - 1; axis >= 0; --axis) {
      const int64_t above = index / shape[axis];
      at[axis] = index - above * shape[axis];
      index = above;
    }
  }
};

struct Im2colAnyAxes : AnyAxes {
  const float* image;
  float* columns;

  MOKA_HD void operator()(int64_t row, int64_t piece) const {
    const int64_t channel = row / window.taps;
    int64_t tap[ConvWindow::kMaxAxes];
    Split(window.kernel, row - channel * window.taps, tap);
    const int64_t end = whole ? window.map_size : piece + 1;
    for (int64_t i = piece; i < end; ++i) {
      int64_t at[ConvWindow::kMaxAxes];
      Split(window.map, i, at);
      columns[row * window.map_size + i] = Pixel(image + channel * window.image_size, tap, at);
    }
  }

  MOKA_HD float Pixel(const float* plane, const int64_t* tap, const int64_t* at) const {
    int64_t offset = 0;
    for (int axis = 0; axis < window.axes; ++axis) {
      const int64_t pixel =
          at[axis] * window.stride[axis] + tap[axis] * window.dilation[axis] - window.pad[axis];
      if (pixel < 0 || pixel >= window.image[axis]) return 0.0f;
      offset = offset * window.image[axis] + pixel;
    }
    return plane[offset];
  }
};

struct Col2imAnyAxes : AnyAxes {
  const float* columns;
  float* image;

  MOKA_HD void operator()(int64_t channel, int64_t piece) const {
    const float* rows = columns + channel * window.taps * window.map_size;
    const int64_t end = whole ? window.image_size : piece + 1;
    for (int64_t i = piece; i < end; ++i) {
      int64_t pixel[ConvWindow::kMaxAxes];
      Split(window.image, i, pixel);
      float sum = 0.0f;
      for (int64_t number = 0; number < window.taps; ++number) {
        int64_t tap[ConvWindow::kMaxAxes];
        Split(window.kernel, number, tap);
        const int64_t position = Position(pixel, tap);
        if (position >= 0) sum += rows[number * window.map_size + position];
      }
      image[channel * window.image_size + i] = sum;
    }
  }

  /// The map position whose tap sees the pixel, -1 for none.
  MOKA_HD int64_t Position(const int64_t* pixel, const int64_t* tap) const {
    int64_t position = 0;
    for (int axis = 0; axis < window.axes; ++axis) {
      const int64_t distance = pixel[axis] + window.pad[axis] - tap[axis] * window.dilation[axis];
      const int64_t at = distance / window.stride[axis];
      if (distance < 0 || at * window.stride[axis] != distance || at >= window.map[axis]) return -1;
      position = position * window.map[axis] + at;
    }
    return position;
  }
};

bool OnHost(const Context& context) { return context.kind() != DeviceKind::kCuda; }

}  // namespace

void Im2col(Context& context, const ConvWindow& window, const float* image, float* columns) {
  if (window.axes != 2 || !OnHost(context)) return Im2colNd(context, window, image, columns);
  ForEach2D(context, window.channels * window.kernel[0], 1, Im2colPlanes{window, image, columns},
            window.kernel[1] * window.map_size);
}

void Col2im(Context& context, const ConvWindow& window, const float* columns, float* image) {
  if (window.axes != 2 || !OnHost(context)) return Col2imNd(context, window, columns, image);
  ForEach2D(context, window.channels, 1, Col2imPlanes{window, columns, image},
            window.taps * window.map_size);
}

void Im2colNd(Context& context, const ConvWindow& window, const float* image, float* columns) {
  const bool whole = OnHost(context);
  ForEach2D(context, window.rows(), whole ? 1 : window.map_size,
            Im2colAnyAxes{{window, whole}, image, columns}, whole ? window.map_size : 1);
}

void Col2imNd(Context& context, const ConvWindow& window, const float* columns, float* image) {
  const bool whole = OnHost(context);
  ForEach2D(context, window.channels, whole ? 1 : window.image_size,
            Col2imAnyAxes{{window, whole}, columns, image},
            window.taps * (whole ? window.image_size : 1));
}

}  // namespace moka
