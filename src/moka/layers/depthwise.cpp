#include "moka/layers/depthwise.hpp"

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

/// What a tap covers along one axis: positions [begin, end) of the map read pixel
/// first + position * stride.
struct TapRange {
  int64_t first;
  int64_t begin;
  int64_t end;
};

/// The part of the work that one call does, and the windows it works on. A call takes `rows` rows
/// of a plane: all of them on the CPU, one where threads are many.
struct DepthwiseKernel {
  ConvWindow window;
  int64_t maps;  // map channels of an image channel
  int64_t rows;

  /// The positions of tap `tap` whose pixel lies in [low, high).
  MOKA_HD TapRange Range(int axis, int64_t tap, int64_t low, int64_t high) const {
    const int64_t stride = window.stride[axis];
    TapRange range;
    range.first = tap * window.dilation[axis] - window.pad[axis];
    range.begin = low > range.first ? (low - range.first + stride - 1) / stride : 0;
    range.end = high > range.first ? (high - range.first + stride - 1) / stride : 0;
    if (range.end > window.map[axis]) range.end = window.map[axis];
    return range;
  }
};

struct ToMapsKernel : DepthwiseKernel {
  const float* image;
  const float* weights;
  const float* bias;
  float* out;

  MOKA_HD void operator()(int64_t plane, int64_t piece) const {
    const int64_t map_channels = window.channels * maps;
    const int64_t number = plane / map_channels;
    const int64_t map_channel = plane - number * map_channels;
    const float* in = image + (number * window.channels + map_channel / maps) * window.image_size;
    const float* weight = weights + map_channel * window.taps;
    const float start = bias != nullptr ? bias[map_channel] : 0.0f;
    for (int64_t y = piece * rows; y < piece * rows + rows && y < window.map[0]; ++y) {
      float* row = out + plane * window.map_size + y * window.map[1];
      for (int64_t x = 0; x < window.map[1]; ++x) row[x] = start;
      for (int64_t ky = 0; ky < window.kernel[0]; ++ky) {
        const int64_t pixel = y * window.stride[0] + ky * window.dilation[0] - window.pad[0];
        if (pixel < 0 || pixel >= window.image[0]) continue;
        for (int64_t kx = 0; kx < window.kernel[1]; ++kx) {
          AddTap(kx, weight[ky * window.kernel[1] + kx], in + pixel * window.image[1], row);
        }
      }
    }
  }

  MOKA_HD void AddTap(int64_t kx, float weight, const float* in, float* row) const {
    const TapRange range = Range(1, kx, 0, window.image[1]);
    const int64_t stride = window.stride[1];
    in += range.first;
    if (stride == 1) {
      for (int64_t x = range.begin; x < range.end; ++x) row[x] += weight * in[x];
    } else {
      for (int64_t x = range.begin; x < range.end; ++x) row[x] += weight * in[x * stride];
    }
  }
};

struct ToImageKernel : DepthwiseKernel {
  const float* maps_in;
  const float* weights;
  const float* bias;
  float* out;

  MOKA_HD void operator()(int64_t plane, int64_t piece) const {
    const int64_t channel = plane % window.channels;
    const float start = bias != nullptr ? bias[channel] : 0.0f;
    float* image = out + plane * window.image_size;
    const int64_t low = piece * rows;
    const int64_t high = low + rows < window.image[0] ? low + rows : window.image[0];
    for (int64_t i = low * window.image[1]; i < high * window.image[1]; ++i) image[i] = start;
    for (int64_t map = 0; map < maps; ++map) {
      const float* in = maps_in + (plane * maps + map) * window.map_size;
      const float* weight = weights + (channel * maps + map) * window.taps;
      for (int64_t ky = 0; ky < window.kernel[0]; ++ky) {
        const TapRange range = Range(0, ky, low, high);
        for (int64_t kx = 0; kx < window.kernel[1]; ++kx) {
          AddTap(range, Range(1, kx, 0, window.image[1]), weight[ky * window.kernel[1] + kx], in,
                 image);
        }
      }
    }
  }

  MOKA_HD void AddTap(const TapRange& ys, const TapRange& xs, float weight, const float* in,
                      float* image) const {
    const int64_t stride = window.stride[1];
    for (int64_t y = ys.begin; y < ys.end; ++y) {
      const float* from = in + y * window.map[1];
      float* to = image + (ys.first + y * window.stride[0]) * window.image[1] + xs.first;
      if (stride == 1) {
#pragma omp simd
        for (int64_t x = xs.begin; x < xs.end; ++x) to[x] += weight * from[x];
      } else {
#pragma omp simd
        for (int64_t x = xs.begin; x < xs.end; ++x) to[x * stride] += weight * from[x];
      }
    }
  }
};

/// One call sums one tap of one map channel over all images.
struct WeightGradientKernel : DepthwiseKernel {
  int64_t images;
  const float* image;
  const float* maps_in;
  float beta;
  float* gradient;

  MOKA_HD void operator()(int64_t map_channel, int64_t tap) const {
    const int64_t ky = tap / window.kernel[1];
    const TapRange ys = Range(0, ky, 0, window.image[0]);
    const TapRange xs = Range(1, tap - ky * window.kernel[1], 0, window.image[1]);
    const int64_t map_channels = window.channels * maps;
    float sum = 0.0f;
    for (int64_t number = 0; number < images; ++number) {
      sum += PlaneSum(
          ys, xs,
          image + (number * window.channels + map_channel / maps) * window.image_size + xs.first,
          maps_in + (number * map_channels + map_channel) * window.map_size);
    }
    float& out = gradient[map_channel * window.taps + tap];
    out = beta == 0.0f ? sum : sum + beta * out;
  }

  MOKA_HD float PlaneSum(const TapRange& ys, const TapRange& xs, const float* in,
                         const float* maps_plane) const {
    const int64_t stride = window.stride[1];
    float sum = 0.0f;
    for (int64_t y = ys.begin; y < ys.end; ++y) {
      const float* from = in + (ys.first + y * window.stride[0]) * window.image[1];
      const float* by = maps_plane + y * window.map[1];
      float row = 0.0f;
      if (stride == 1) {
#pragma omp simd reduction(+ : row)
        for (int64_t x = xs.begin; x < xs.end; ++x) row += from[x] * by[x];
      } else {
#pragma omp simd reduction(+ : row)
        for (int64_t x = xs.begin; x < xs.end; ++x) row += from[x * stride] * by[x];
      }
      sum += row;
    }
    return sum;
  }
};

DepthwiseKernel KernelOf(const Context& context, const ConvShape& shape, int64_t plane_rows) {
  return {shape.window, shape.map_channels / shape.window.channels,
          context.kind() == DeviceKind::kCuda ? 1 : plane_rows};
}

}  // namespace

void DepthwiseToMaps(Context& context, const ConvShape& shape, const float* image,
                     const float* weights, const float* bias, float* maps) {
  const int64_t height = shape.window.map[0];
  const ToMapsKernel kernel{KernelOf(context, shape, height), image, weights, bias, maps};
  ForEach2D(context, shape.images * shape.map_channels, height / kernel.rows, kernel,
            kernel.rows * shape.window.map[1] * shape.window.taps);
}

void DepthwiseToImage(Context& context, const ConvShape& shape, const float* maps,
                      const float* weights, const float* bias, float* image) {
  const int64_t height = shape.window.image[0];
  const ToImageKernel kernel{KernelOf(context, shape, height), maps, weights, bias, image};
  ForEach2D(context, shape.images * shape.window.channels, height / kernel.rows, kernel,
            kernel.rows * shape.window.image[1] * shape.window.taps);
}

void DepthwiseWeightGradient(Context& context, const ConvShape& shape, const float* image,
                             const float* maps, float beta, float* gradient) {
  const WeightGradientKernel kernel{
      KernelOf(context, shape, shape.window.map[0]), shape.images, image, maps, beta, gradient};
  ForEach2D(context, shape.map_channels, shape.window.taps, kernel,
            shape.images * shape.window.map_size);
}

}  // namespace moka
