#include "moka/layers/regions.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// The two neighbours that a sample is interpolated from along one axis. Outside the map both
/// weights are 0.
struct Tap {
  int low, high;
  float low_weight, high_weight;

  MOKA_HD float WeightOf(int i) const {
    return (i == low ? low_weight : 0.0f) + (i == high ? high_weight : 0.0f);
  }
};

/// One axis of a region: bins with `samples` points each, in the middle of equal parts.
struct SampledAxis {
  float start, bin;
  int bins, samples, length;

  MOKA_HD SampledAxis(float from, float to, float scale, int bins, int ratio, int length)
      : start(from * scale), bins(bins), samples(ratio), length(length) {
    constexpr float kMostSamples = 1024;
    bin = fmaxf((to - from) * scale, 1.0f) / static_cast<float>(bins);
    if (ratio <= 0) samples = static_cast<int>(fminf(ceilf(bin), kMostSamples));
  }

  MOKA_HD Tap At(int b, int sample) const {
    const float step = bin / static_cast<float>(samples);
    float place = start + static_cast<float>(b) * bin + (static_cast<float>(sample) + 0.5f) * step;
    if (!(place >= -1 && place <= static_cast<float>(length))) return {0, 0, 0, 0};
    place = fminf(fmaxf(place, 0.0f), static_cast<float>(length - 1));
    const int low = static_cast<int>(place), high = low + 1 < length ? low + 1 : low;
    const float part = place - static_cast<float>(low);
    return {low, high, 1 - part, part};
  }

  /// Bins [FirstNear, EndNear) include all with samples that element i has a weight in.
  MOKA_HD int FirstNear(int i) const {
    return Bin(floorf((static_cast<float>(i) - 1 - start) / bin));
  }
  MOKA_HD int EndNear(int i) const {
    return Bin(ceilf((static_cast<float>(i) + 1 - start) / bin) + 1);
  }

 private:
  MOKA_HD int Bin(float b) const {
    return static_cast<int>(fminf(fmaxf(b, 0.0f), static_cast<float>(bins)));
  }
};

struct AlignedMap {
  Regions regions;
  RegionMap map;
  int ratio;

  MOKA_HD SampledAxis Rows(int64_t r) const {
    return {regions.Y1(r), regions.Y2(r), regions.scale, map.rows, ratio, map.height};
  }
  MOKA_HD SampledAxis Columns(int64_t r) const {
    return {regions.X1(r), regions.X2(r), regions.scale, map.columns, ratio, map.width};
  }
};

struct MeanOfSamples {
  AlignedMap aligned;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t region_channel, int64_t cell) const {
    const RegionMap& map = aligned.map;
    const int64_t r = region_channel / map.channels, channel = region_channel - r * map.channels;
    const int row = static_cast<int>(cell) / map.columns;
    const int column = static_cast<int>(cell) - row * map.columns;
    const SampledAxis rows = aligned.Rows(r), columns = aligned.Columns(r);
    const float* plane =
        x + (aligned.regions.Sample(r) * map.channels + channel) * map.height * map.width;
    float sum = 0;
    for (int i = 0; i < rows.samples; ++i) {
      const Tap h = rows.At(row, i);
      const float *above = plane + h.low * map.width, *below = plane + h.high * map.width;
      for (int j = 0; j < columns.samples; ++j) {
        const Tap w = columns.At(column, j);
        sum += h.low_weight * (w.low_weight * above[w.low] + w.high_weight * above[w.high]) +
               h.high_weight * (w.low_weight * below[w.low] + w.high_weight * below[w.high]);
      }
    }
    y[region_channel * map.rows * map.columns + cell] =
        sum / static_cast<float>(rows.samples * columns.samples);
  }
};

struct SpreadSamples {
  AlignedMap aligned;
  const float* dy;
  float* dx;
  bool whole = true;
  MOKA_HD void operator()(int64_t plane, int64_t part) const {
    const RegionMap& map = aligned.map;
    const PlaneRun run(map.height, map.width, whole, part);
    float* to = dx + plane * map.height * map.width;
    for (int i = run.first; i < run.last; ++i) to[i] = 0;
    const int64_t sample = plane / map.channels, channel = plane - sample * map.channels;
    for (int64_t r = 0; r < aligned.regions.count; ++r) {
      if (aligned.regions.Sample(r) != sample) continue;
      const float* from = dy + (r * map.channels + channel) * map.rows * map.columns;
      const SampledAxis rows = aligned.Rows(r), columns = aligned.Columns(r);
      if (whole) {
        Scatter(rows, columns, from, to);
      } else {
        to[run.first] += Gather(rows, columns, run, from);
      }
    }
  }

  MOKA_HD void Scatter(const SampledAxis& rows, const SampledAxis& columns, const float* from,
                       float* to) const {
    const float count = static_cast<float>(rows.samples * columns.samples);
    for (int row = 0; row < rows.bins; ++row) {
      for (int i = 0; i < rows.samples; ++i) {
        const Tap h = rows.At(row, i);
        float *above = to + h.low * columns.length, *below = to + h.high * columns.length;
        for (int column = 0; column < columns.bins; ++column) {
          const float share = from[row * columns.bins + column] / count;
          for (int j = 0; j < columns.samples; ++j) {
            const Tap w = columns.At(column, j);
            above[w.low] += share * h.low_weight * w.low_weight;
            above[w.high] += share * h.low_weight * w.high_weight;
            below[w.low] += share * h.high_weight * w.low_weight;
            below[w.high] += share * h.high_weight * w.high_weight;
          }
        }
      }
    }
  }

  MOKA_HD float Gather(const SampledAxis& rows, const SampledAxis& columns, const PlaneRun& run,
                       const float* from) const {
    const int row1 = rows.EndNear(run.h0);
    const int column0 = columns.FirstNear(run.w0), column1 = columns.EndNear(run.w0);
    float sum = 0;
    for (int row = rows.FirstNear(run.h0); row < row1; ++row) {
      for (int i = 0; i < rows.samples; ++i) {
        const float h_weight = rows.At(row, i).WeightOf(run.h0);
        if (h_weight == 0) continue;
        for (int column = column0; column < column1; ++column) {
          for (int j = 0; j < columns.samples; ++j) {
            sum += from[row * columns.bins + column] * h_weight *
                   columns.At(column, j).WeightOf(run.w0);
          }
        }
      }
    }
    return sum / static_cast<float>(rows.samples * columns.samples);
  }
};

/// The mean, in each of pooled_h x pooled_w bins of a region, of sampling_ratio x sampling_ratio
/// points that are interpolated bilinearly. Nothing is rounded: the region is scaled by
/// spatial_scale, is at least 1 x 1, and its bins are cut into equal parts with a point in the
/// middle of each. Points up to one element outside the map take the value of its edge, others 0.
///
/// Bottoms: feature map N x C x H x W, regions R x 5 with (sample, x1, y1, x2, y2) in pixels. Top:
/// R x C x pooled_h x pooled_w. He et al., Mask R-CNN (2017), without the later shift by half an
/// element. Throws for bottoms of other shapes, a grid that is not given, and regions of samples
/// that are not there.
class ROIAlignLayer : public RegionLayer {
 public:
  using RegionLayer::RegionLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const ROIAlignParameter& align = param().roi_align_param();
    SetGrid(align.pooled_h(), align.pooled_w(), align.spatial_scale());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const AlignedMap aligned = AlignedOf(CheckedRegions(context, bottoms));
    ForEach2D(context, aligned.regions.count * map_.channels, map_.rows * map_.columns,
              MeanOfSamples{aligned, x, tops[0]->data().Write(context)}, kWork);
  }

 protected:
  void BackwardOfRegions(Context& context, const BlobVector& tops,
                         const BlobVector& bottoms) override {
    const AlignedMap aligned = AlignedOf(KnownRegions(context, bottoms));
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    ForPlaneRuns(context, bottoms[0]->shape()[0] * map_.channels, map_,
                 SpreadSamples{aligned, dy, dx});
  }

 private:
  static constexpr int64_t kWork = 32;  // a few samples, four values each

  AlignedMap AlignedOf(const Regions& regions) const {
    return {regions, map_, param().roi_align_param().sampling_ratio()};
  }
};

const RegisterLayer<ROIAlignLayer> kRegistration(
    LayerInfo("ROIAlign")
        .Summary("the mean of interpolated values in each cell of a grid over a region")
        .Field("roi_align_param")
        .Bottoms(2, "feature map, N x C x H x W, and regions, R x 5: sample, x1, y1, x2, y2")
        .Tops(1, "R x C x pooled_h x pooled_w"));

}  // namespace
}  // namespace moka
