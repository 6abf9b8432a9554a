#include <cfloat>

#include "moka/layers/regions.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Whole elements from the corner to the opposite one, which belongs to the region.
MOKA_HD BinAxis RoundedAxis(float from, float to, float scale, int bins, int length) {
  const float first = roundf(from * scale), last = roundf(to * scale);
  return {0, first, fmaxf(last - first + 1, 1.0f) / static_cast<float>(bins), length};
}

MOKA_HD BinAxis RowBins(const Regions& regions, const RegionMap& map, int64_t r) {
  return RoundedAxis(regions.Y1(r), regions.Y2(r), regions.scale, map.rows, map.height);
}

MOKA_HD BinAxis ColumnBins(const Regions& regions, const RegionMap& map, int64_t r) {
  return RoundedAxis(regions.X1(r), regions.X2(r), regions.scale, map.columns, map.width);
}

struct MaxOfBins {
  Regions regions;
  RegionMap map;
  const float* x;
  float* y;
  int32_t* mask;
  MOKA_HD void operator()(int64_t region_channel, int64_t cell) const {
    const int64_t r = region_channel / map.channels, channel = region_channel - r * map.channels;
    const int row = static_cast<int>(cell) / map.columns;
    const int column = static_cast<int>(cell) - row * map.columns;
    const BinAxis rows = RowBins(regions, map, r), columns = ColumnBins(regions, map, r);
    const int h1 = rows.End(row), w0 = columns.Begin(column), w1 = columns.End(column);
    const float* plane = x + (regions.Sample(r) * map.channels + channel) * map.height * map.width;
    float best = -FLT_MAX;
    int at = -1;
    for (int h = rows.Begin(row); h < h1; ++h) {
      for (int w = w0; w < w1; ++w) {
        const float value = plane[h * map.width + w];
        if (!(value > best)) continue;
        best = value;
        at = h * map.width + w;
      }
    }
    const int64_t output = region_channel * map.rows * map.columns + cell;
    y[output] = at < 0 ? 0.0f : best;
    mask[output] = at;
  }
};

struct ToMaxima {
  Regions regions;
  RegionMap map;
  const int32_t* mask;
  const float* dy;
  float* dx;
  bool whole = true;
  MOKA_HD void operator()(int64_t plane, int64_t part) const {
    const PlaneRun run(map.height, map.width, whole, part);
    float* to = dx + plane * map.height * map.width;
    for (int i = run.first; i < run.last; ++i) to[i] = 0;
    const int64_t sample = plane / map.channels, channel = plane - sample * map.channels;
    for (int64_t r = 0; r < regions.count; ++r) {
      if (regions.Sample(r) != sample) continue;
      Add(run, r, (r * map.channels + channel) * map.rows * map.columns, to);
    }
  }

  MOKA_HD void Add(const PlaneRun& run, int64_t r, int64_t outputs, float* to) const {
    int row0 = 0, row1 = map.rows, column0 = 0, column1 = map.columns;
    if (!run.whole) {
      const BinAxis rows = RowBins(regions, map, r), columns = ColumnBins(regions, map, r);
      row0 = rows.FirstCovering(run.h0, map.rows), row1 = rows.EndCovering(run.h0, map.rows);
      column0 = columns.FirstCovering(run.w0, map.columns);
      column1 = columns.EndCovering(run.w0, map.columns);
    }
    for (int row = row0; row < row1; ++row) {
      for (int column = column0; column < column1; ++column) {
        const int64_t output = outputs + row * map.columns + column;
        const int at = mask[output];
        if (at >= run.first && at < run.last) to[at] += dy[output];
      }
    }
  }
};

/// The largest value in each of pooled_h x pooled_w bins of a region. The region is scaled by
/// spatial_scale, rounded to whole elements x1..x2, y1..y2 (at least 1 x 1), and cut into bins of
/// equal length, bin b from floor(b length) to ceil((b + 1) length), clipped to the map. An empty
/// bin gives 0. Of equal values the first in row-major order gets the gradient.
///
/// Bottoms: feature map N x C x H x W, regions R x 5 with (sample, x1, y1, x2, y2) in pixels. Top:
/// R x C x pooled_h x pooled_w. Girshick, Fast R-CNN (ICCV 2015). Throws for bottoms of other
/// shapes, a grid that is not given, and regions of samples that are not there.
class ROIPoolingLayer : public RegionLayer {
 public:
  using RegionLayer::RegionLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const ROIPoolingParameter& pool = param().roi_pooling_param();
    SetGrid(pool.pooled_h(), pool.pooled_w(), pool.spatial_scale());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    RegionLayer::Reshape(bottoms, tops);
    mask_.Resize(tops[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const Regions regions = CheckedRegions(context, bottoms);
    float* y = tops[0]->data().Write(context);
    auto* mask = reinterpret_cast<int32_t*>(mask_.Write(context));
    ForEach2D(context, regions.count * map_.channels, map_.rows * map_.columns,
              MaxOfBins{regions, map_, x, y, mask}, kWork);
  }

 protected:
  void BackwardOfRegions(Context& context, const BlobVector& tops,
                         const BlobVector& bottoms) override {
    const Regions regions = KnownRegions(context, bottoms);
    const auto* mask = reinterpret_cast<const int32_t*>(mask_.Read(context));
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    ForPlaneRuns(context, bottoms[0]->shape()[0] * map_.channels, map_,
                 ToMaxima{regions, map_, mask, dy, dx});
  }

 private:
  static constexpr int64_t kWork = 16;  // elements of a bin, or so
  Tensor mask_;                         // where each maximum lies in its plane; -1: nowhere
};

const RegisterLayer<ROIPoolingLayer> kRegistration(
    LayerInfo("ROIPooling")
        .Summary("the largest value in each cell of a grid over a region")
        .Field("roi_pooling_param")
        .Bottoms(2, "feature map, N x C x H x W, and regions, R x 5: sample, x1, y1, x2, y2")
        .Tops(1, "R x C x pooled_h x pooled_w"));

}  // namespace
}  // namespace moka
