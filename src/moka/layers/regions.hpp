#pragma once

#include <cmath>

#include "moka/device/for_each.hpp"
#include "moka/layers/layer.hpp"

namespace moka {

/// Regions of interest as layers get them: R rows (sample, x1, y1, x2, y2), in pixels.
struct Regions {
  const float* data;
  int64_t count;
  float scale;  // elements of the feature map a pixel

  MOKA_HD int64_t Sample(int64_t r) const { return static_cast<int64_t>(data[5 * r]); }
  MOKA_HD float X1(int64_t r) const { return data[5 * r + 1]; }
  MOKA_HD float Y1(int64_t r) const { return data[5 * r + 2]; }
  MOKA_HD float X2(int64_t r) const { return data[5 * r + 3]; }
  MOKA_HD float Y2(int64_t r) const { return data[5 * r + 4]; }
};

/// The feature map and the grid that each region becomes.
struct RegionMap {
  int64_t channels;
  int height, width;
  int rows, columns;  // of the grid
};

/// How one axis of a region is cut into bins. Bin b is [Begin(b), End(b)) of the feature map,
/// clipped to it; neighbours overlap where the cuts fall between elements.
struct BinAxis {
  float start;   // added before rounding
  float offset;  // added after it
  float bin;     // length of a bin
  int length;    // of the feature map

  MOKA_HD int Begin(int b) const { return Clip(floorf(static_cast<float>(b) * bin + start)); }
  MOKA_HD int End(int b) const { return Clip(ceilf(static_cast<float>(b + 1) * bin + start)); }

  /// Bins [FirstCovering, EndCovering) include all that contain element i; `bins` in number.
  MOKA_HD int FirstCovering(int i, int bins) const {
    const float first = floorf((static_cast<float>(i) - offset - start) / bin) - 1;
    return static_cast<int>(fminf(fmaxf(first, 0.0f), static_cast<float>(bins)));
  }
  MOKA_HD int EndCovering(int i, int bins) const {
    const float end = ceilf((static_cast<float>(i) + 1 - offset - start) / bin) + 1;
    return static_cast<int>(fminf(fmaxf(end, 0.0f), static_cast<float>(bins)));
  }

 private:
  MOKA_HD int Clip(float place) const {
    return static_cast<int>(fminf(fmaxf(place + offset, 0.0f), static_cast<float>(length)));
  }
};

/// The elements of a plane that one call works on: [h0, h1) x [w0, w1), `first` to `last` - 1 in
/// memory. A CPU takes whole planes, into which gradients are scattered; a GPU takes one element,
/// which gathers its own: so sums have the same order everywhere.
struct PlaneRun {
  int h0, h1, w0, w1;
  int first, last;
  bool whole;

  MOKA_HD PlaneRun(int height, int width, bool whole, int64_t part) : whole(whole) {
    h0 = w0 = 0, h1 = height, w1 = width;
    if (!whole) {
      h0 = static_cast<int>(part) / width, w0 = static_cast<int>(part) - h0 * width;
      h1 = h0 + 1, w1 = w0 + 1;
    }
    first = h0 * width + w0, last = (h1 - 1) * width + w1;
  }
};

/// Calls functor(plane, part) for all planes of `map`; functor.whole says how PlaneRun reads
/// `part`.
template <typename F>
void ForPlaneRuns(Context& context, int64_t planes, const RegionMap& map, F functor) {
  functor.whole = context.kind() != DeviceKind::kCuda;
  const int64_t size = static_cast<int64_t>(map.height) * map.width;
  ForEach2D(context, planes, functor.whole ? 1 : size, functor, functor.whole ? size : 1);
}

/// A layer that turns each region (bottom 1, R x 5) of a feature map (bottom 0, N x C x H x W) into
/// a grid of the same size (top, R x C' x rows x columns). The regions have no derivative. Throws
/// for bottoms of other shapes and regions of samples that are not there.
class RegionLayer : public Layer {
 public:
  using Layer::Layer;

  bool Differentiable(int bottom) const override { return bottom == 0; }
  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;

  /// Has nothing to do where there are no regions.
  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override;

 protected:
  void SetGrid(int64_t rows, int64_t columns, float scale);

  /// How many channels the top has where the feature map has `channels`.
  virtual int64_t ChannelsOf(const Blob& map) const { return map.shape()[1]; }
  virtual void BackwardOfRegions(Context& context, const BlobVector& tops,
                                 const BlobVector& bottoms) = 0;

  /// The regions, whose samples have been checked on the host: there are few.
  Regions CheckedRegions(Context& context, const BlobVector& bottoms) const;
  Regions KnownRegions(Context& context, const BlobVector& bottoms) const;

  RegionMap map_ = {};

 private:
  float scale_ = 1;
};

}  // namespace moka
