#include "moka/base/error.hpp"
#include "moka/layers/regions.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// From the first pixel to the end of the last, scaled; at least a tenth of an element.
MOKA_HD BinAxis ScaledAxis(float from, float to, float scale, int bins, int length) {
  const float start = roundf(from) * scale, end = (roundf(to) + 1) * scale;
  return {start, 0, fmaxf(end - start, 0.1f) / static_cast<float>(bins), length};
}

/// A cell's part of its own score map.
struct Bin {
  int h0, h1, w0, w1;

  MOKA_HD Bin(const Regions& regions, const RegionMap& map, int64_t r, int row, int column) {
    const BinAxis rows =
        ScaledAxis(regions.Y1(r), regions.Y2(r), regions.scale, map.rows, map.height);
    const BinAxis columns =
        ScaledAxis(regions.X1(r), regions.X2(r), regions.scale, map.columns, map.width);
    h0 = rows.Begin(row), h1 = rows.End(row);
    w0 = columns.Begin(column), w1 = columns.End(column);
  }

  MOKA_HD float Area() const { return static_cast<float>((h1 - h0) * (w1 - w0)); }
};

struct MeanOfBins {
  Regions regions;
  RegionMap map;
  int64_t outputs;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t region_output, int64_t cell) const {
    const int64_t r = region_output / outputs, output = region_output - r * outputs;
    const int row = static_cast<int>(cell) / map.columns;
    const int column = static_cast<int>(cell) - row * map.columns;
    const Bin bin(regions, map, r, row, column);
    const int64_t channel = output * map.rows * map.columns + cell;
    const float* plane = x + (regions.Sample(r) * map.channels + channel) * map.height * map.width;
    float sum = 0;
    for (int h = bin.h0; h < bin.h1; ++h) {
      for (int w = bin.w0; w < bin.w1; ++w) sum += plane[h * map.width + w];
    }
    const bool empty = bin.h1 <= bin.h0 || bin.w1 <= bin.w0;
    y[region_output * map.rows * map.columns + cell] = empty ? 0.0f : sum / bin.Area();
  }
};

struct SpreadMeans {
  Regions regions;
  RegionMap map;
  int64_t outputs;
  const float* dy;
  float* dx;
  bool whole = true;
  MOKA_HD void operator()(int64_t plane, int64_t part) const {
    const PlaneRun run(map.height, map.width, whole, part);
    float* to = dx + plane * map.height * map.width;
    for (int i = run.first; i < run.last; ++i) to[i] = 0;
    const int64_t sample = plane / map.channels, channel = plane - sample * map.channels;
    const int64_t cells = map.rows * map.columns, output = channel / cells;
    const int cell = static_cast<int>(channel - output * cells), row = cell / map.columns;
    for (int64_t r = 0; r < regions.count; ++r) {
      if (regions.Sample(r) != sample) continue;
      const Bin bin(regions, map, r, row, cell - row * map.columns);
      const int h0 = bin.h0 > run.h0 ? bin.h0 : run.h0, h1 = bin.h1 < run.h1 ? bin.h1 : run.h1;
      const int w0 = bin.w0 > run.w0 ? bin.w0 : run.w0, w1 = bin.w1 < run.w1 ? bin.w1 : run.w1;
      if (h0 >= h1 || w0 >= w1) continue;
      const float share = dy[(r * outputs + output) * cells + cell] / bin.Area();
      for (int h = h0; h < h1; ++h) {
        for (int w = w0; w < w1; ++w) to[h * map.width + w] += share;
      }
    }
  }
};

/// The mean of each of group_size x group_size bins of a region, each taken from a score map of its
/// own: y(r, k, i, j) is the mean of channel (k group_size + i) group_size + j over bin (i, j). The
/// region, from pixel x1 to the end of pixel x2 (rounded), is scaled by spatial_scale; bin b
/// reaches from floor(start + b length) to ceil(start + (b + 1) length), clipped to the map. An
/// empty bin gives 0.
///
/// Bottoms: score maps N x output_dim group_size^2 x H x W, regions R x 5 with (sample, x1, y1, x2,
/// y2) in pixels. Top: R x output_dim x group_size x group_size. Dai et al., R-FCN (2016). Throws
/// for bottoms of other shapes and regions of samples that are not there.
class PSROIPoolingLayer : public RegionLayer {
 public:
  using RegionLayer::RegionLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const PSROIPoolingParameter& pool = param().psroi_pooling_param();
    SetGrid(pool.group_size(), pool.group_size(), pool.spatial_scale());
    Require(pool.output_dim() > 0, "psroi_pooling_param.output_dim is ", pool.output_dim(),
            ", but must be positive");
    outputs_ = pool.output_dim();
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const Regions regions = CheckedRegions(context, bottoms);
    ForEach2D(context, regions.count * outputs_, map_.rows * map_.columns,
              MeanOfBins{regions, map_, outputs_, x, tops[0]->data().Write(context)}, kWork);
  }

 protected:
  int64_t ChannelsOf(const Blob& map) const override {
    const int64_t needed = outputs_ * map_.rows * map_.columns;
    Require(map.shape()[1] == needed, "needs output_dim * group_size^2 = ", outputs_, " * ",
            map_.rows, " * ", map_.columns, " = ", needed, " score maps, but bottom \"", map.name(),
            "\" has shape ", map.shape());
    return outputs_;
  }

  void BackwardOfRegions(Context& context, const BlobVector& tops,
                         const BlobVector& bottoms) override {
    const Regions regions = KnownRegions(context, bottoms);
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    ForPlaneRuns(context, bottoms[0]->shape()[0] * map_.channels, map_,
                 SpreadMeans{regions, map_, outputs_, dy, dx});
  }

 private:
  static constexpr int64_t kWork = 16;  // elements of a bin, or so
  int64_t outputs_ = 0;
};

const RegisterLayer<PSROIPoolingLayer> kRegistration(
    LayerInfo("PSROIPooling")
        .Summary("the mean of each cell of a region in a score map of its own")
        .Field("psroi_pooling_param")
        .Bottoms(2,
                 "score maps, N x output_dim group_size^2 x H x W, and regions, R x 5: sample, x1, "
                 "y1, x2, y2")
        .Tops(1, "R x output_dim x group_size x group_size"));

}  // namespace
}  // namespace moka
