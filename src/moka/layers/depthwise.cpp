#include "moka/layers/depthwise.hpp"

#include <algorithm>
#include <utility>

#include "moka/device/for_each.hpp"
#include "moka/layers/runs.hpp"

namespace moka {
namespace {

/// The windows that a call works on, and its part of the work: `rows` rows of a plane of `height`.
struct DepthwiseKernel {
  ConvWindow window;
  int64_t maps;  // map channels of an image channel
  int64_t height = 0;
  int64_t rows = 1;

  int64_t pieces() const { return (height + rows - 1) / rows; }
  MOKA_HD int64_t Low(int64_t piece) const { return piece * rows; }
  MOKA_HD int64_t High(int64_t piece) const {
    return (piece + 1) * rows < height ? (piece + 1) * rows : height;
  }
};

/// to[i] += the sum of three taps that lie `step` apart from from[i].
MOKA_HD void AddThreeTaps(const float* from, int64_t step, float w0, float w1, float w2,
                          int64_t count, float* __restrict__ to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] += w0 * from[i] + w1 * from[i + step] + w2 * from[i + 2 * step];
  }
}

struct ToMapsKernel : DepthwiseKernel {
  const float* image;
  const float* weights;
  bool reversed;  // the last weight belongs to the first tap
  const float* bias;
  float* out;

  MOKA_HD void operator()(int64_t plane, int64_t piece) const {
    const int64_t map_channels = window.channels * maps;
    const int64_t number = plane / map_channels;
    const int64_t map_channel = plane - number * map_channels;
    const float* in = image + (number * window.channels + map_channel / maps) * window.image_size;
    const float* weight = weights + map_channel * window.taps + (reversed ? window.taps - 1 : 0);
    const float start = bias != nullptr ? bias[map_channel] : 0.0f;
    const int64_t low = Low(piece), high = High(piece);
    float* map = out + plane * window.map_size;
    for (int64_t i = low * window.map[1]; i < high * window.map[1]; ++i) map[i] = start;
    for (int64_t ky = 0; ky < window.kernel[0]; ++ky) {
      TapRange ys = window.Range(0, ky, 0, window.image[0]);
      if (ys.begin < low) ys.begin = low;
      if (ys.end > high) ys.end = high;
      AddTapRow(ys, ky * window.kernel[1], in, weight, map);
    }
  }

  /// Adds the taps of one row of the kernel to rows `ys` of the map. Kernels are mostly three taps
  /// wide: where all three are inside the image, they are added in one pass.
  MOKA_HD void AddTapRow(const TapRange& ys, int64_t tap, const float* in, const float* weight,
                         float* map) const {
    const TapRange left = window.Range(1, 0, 0, window.image[1]);
    const TapRange right = window.Range(1, window.kernel[1] - 1, 0, window.image[1]);
    const bool three = window.kernel[1] == 3 && window.stride[1] == 1 && left.begin < right.end;
    const TapRange inner{left.first, left.begin, right.end};
    if (three) AddInner(ys, inner, tap, in, weight, map);
    for (int64_t kx = 0; kx < window.kernel[1]; ++kx) {
      const float factor = Weight(weight, tap + kx);
      const TapRange xs = window.Range(1, kx, 0, window.image[1]);
      if (three) {
        AddTap(ys, {xs.first, xs.begin, inner.begin}, factor, in, map);
        AddTap(ys, {xs.first, inner.end, xs.end}, factor, in, map);
      } else {
        AddTap(ys, xs, factor, in, map);
      }
    }
  }

  MOKA_HD void AddInner(const TapRange& ys, const TapRange& xs, int64_t tap, const float* in,
                        const float* weight, float* map) const {
    const float w0 = Weight(weight, tap), w1 = Weight(weight, tap + 1),
                w2 = Weight(weight, tap + 2);
    for (int64_t y = ys.begin; y < ys.end; ++y) {
      AddThreeTaps(in + (ys.first + y * window.stride[0]) * window.image[1] + xs.first + xs.begin,
                   window.dilation[1], w0, w1, w2, xs.count(), map + y * window.map[1] + xs.begin);
    }
  }

  MOKA_HD void AddTap(const TapRange& ys, const TapRange& xs, float factor, const float* in,
                      float* map) const {
    if (xs.count() <= 0) return;
    in += xs.first + xs.begin * window.stride[1];
    for (int64_t y = ys.begin; y < ys.end; ++y) {
      GatherRun(in + (ys.first + y * window.stride[0]) * window.image[1], factor, window.stride[1],
                xs.count(), map + y * window.map[1] + xs.begin);
    }
  }

  MOKA_HD float Weight(const float* weight, int64_t tap) const {
    return reversed ? weight[-tap] : weight[tap];
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
    const int64_t low = Low(piece), high = High(piece);
    for (int64_t i = low * window.image[1]; i < high * window.image[1]; ++i) image[i] = start;
    for (int64_t map = 0; map < maps; ++map) {
      const float* in = maps_in + (plane * maps + map) * window.map_size;
      const float* weight = weights + (channel * maps + map) * window.taps;
      for (int64_t ky = 0; ky < window.kernel[0]; ++ky) {
        const TapRange ys = window.Range(0, ky, low, high);
        for (int64_t kx = 0; kx < window.kernel[1]; ++kx) {
          AddTap(ys, window.Range(1, kx, 0, window.image[1]), weight[ky * window.kernel[1] + kx],
                 in, image);
        }
      }
    }
  }

  MOKA_HD void AddTap(const TapRange& ys, const TapRange& xs, float weight, const float* in,
                      float* image) const {
    const int64_t stride = window.stride[1];
    image += xs.first + xs.begin * stride;
    for (int64_t y = ys.begin; y < ys.end; ++y) {
      AddRun(in + y * window.map[1] + xs.begin, weight, stride, xs.count(),
             image + (ys.first + y * window.stride[0]) * window.image[1]);
    }
  }
};

/// One call sums one tap of one map channel over all images, in lanes that vectorise.
struct WeightGradientKernel : DepthwiseKernel {
  int64_t images;
  const float* image;
  const float* maps_in;
  float beta;
  float* gradient;

  MOKA_HD void operator()(int64_t map_channel, int64_t tap) const {
    const int64_t ky = tap / window.kernel[1];
    const TapRange ys = window.Range(0, ky, 0, window.image[0]);
    const TapRange xs = window.Range(1, tap - ky * window.kernel[1], 0, window.image[1]);
    const int64_t map_channels = window.channels * maps;
    float lanes[kRunStep] = {};
    for (int64_t number = 0; number < images; ++number) {
      AddPlane(ys, xs, image + (number * window.channels + map_channel / maps) * window.image_size,
               maps_in + (number * map_channels + map_channel) * window.map_size, lanes);
    }
    float sum = 0.0f;
    for (int64_t k = 0; k < kRunStep; ++k) sum += lanes[k];
    float& out = gradient[map_channel * window.taps + tap];
    out = beta == 0.0f ? sum : sum + beta * out;
  }

  MOKA_HD void AddPlane(const TapRange& ys, const TapRange& xs, const float* in, const float* by,
                        float* lanes) const {
    const int64_t stride = window.stride[1], count = xs.count();
    in += ys.first * window.image[1] + xs.first + xs.begin * stride;
    by += xs.begin;
    float sum[kRunStep];
    memcpy(sum, lanes, kRunStepBytes);
    for (int64_t y = ys.begin; y < ys.end; ++y) {
      const float* from = in + y * window.stride[0] * window.image[1];
      const float* factor = by + y * window.map[1];
      int64_t x = 0;
      for (; x + kRunStep <= count; x += kRunStep) {
        if (stride == 1) {
          for (int64_t k = 0; k < kRunStep; ++k) sum[k] += from[x + k] * factor[x + k];
        } else {
          for (int64_t k = 0; k < kRunStep; ++k) sum[k] += from[(x + k) * stride] * factor[x + k];
        }
      }
      for (; x < count; ++x) sum[0] += from[x * stride] * factor[x];
    }
    memcpy(lanes, sum, kRunStepBytes);
  }
};

/// On the CPU a call takes as many rows as stay in the nearest cache from one tap to the next,
/// where threads are many one row.
DepthwiseKernel KernelOf(const Context& context, const ConvShape& shape, const int64_t* plane) {
  constexpr int64_t kCachedValues = 2048;
  const int64_t rows =
      context.kind() == DeviceKind::kCuda ? 1 : std::max<int64_t>(1, kCachedValues / plane[1]);
  return {shape.window, shape.map_channels / shape.window.channels, plane[0], rows};
}

void RunToMaps(Context& context, const ConvShape& shape, const float* image, const float* weights,
               bool reversed, const float* bias, float* maps) {
  const int64_t* plane = shape.window.map;
  const ToMapsKernel kernel{KernelOf(context, shape, plane), image, weights, reversed, bias, maps};
  ForEach2D(context, shape.images * shape.map_channels, kernel.pieces(), kernel,
            kernel.rows * plane[1] * shape.window.taps);
}

/// The window whose ToMaps, with the weights reversed, is this one's ToImage. Only for one map
/// channel an image channel and strides of 1.
ConvShape Transposed(ConvShape shape) {
  ConvWindow& window = shape.window;
  std::swap(window.image_size, window.map_size);
  for (int axis = 0; axis < window.axes; ++axis) {
    std::swap(window.image[axis], window.map[axis]);
    window.pad[axis] = window.dilation[axis] * (window.kernel[axis] - 1) - window.pad[axis];
  }
  return shape;
}

}  // namespace

void DepthwiseToMaps(Context& context, const ConvShape& shape, const float* image,
                     const float* weights, const float* bias, float* maps) {
  RunToMaps(context, shape, image, weights, false, bias, maps);
}

void DepthwiseToImage(Context& context, const ConvShape& shape, const float* maps,
                      const float* weights, const float* bias, float* image) {
  const ConvWindow& window = shape.window;
  if (window.stride[0] == 1 && window.stride[1] == 1 && shape.map_channels == window.channels) {
    return RunToMaps(context, Transposed(shape), maps, weights, true, bias, image);
  }
  const ToImageKernel kernel{KernelOf(context, shape, window.image), maps, weights, bias, image};
  ForEach2D(context, shape.images * window.channels, kernel.pieces(), kernel,
            kernel.rows * window.image[1] * window.taps);
}

void DepthwiseWeightGradient(Context& context, const ConvShape& shape, const float* image,
                             const float* maps, float beta, float* gradient) {
  const WeightGradientKernel kernel{
      KernelOf(context, shape, shape.window.map), shape.images, image, maps, beta, gradient};
  ForEach2D(context, shape.map_channels, shape.window.taps, kernel,
            shape.images * shape.window.map_size);
}

}  // namespace moka
