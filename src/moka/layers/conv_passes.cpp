#include "moka/layers/conv_passes.hpp"

#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/depthwise.hpp"
#include "moka/layers/im2col.hpp"

namespace moka {
namespace {

struct FillRows {
  const float* values;
  int64_t columns;
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    out[row * columns + column] = values[row];
  }
};

struct AddToRows {
  const float* values;
  int64_t columns;
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    out[row * columns + column] += values[row];
  }
};

/// Adds the workers' sums in a fixed order.
struct AddPartials {
  const float* partials;
  int64_t distance;
  int count;
  float* sum;
  MOKA_HD void operator()(int64_t i) const {
    float value = sum[i];
    for (int k = 0; k < count; ++k) value += partials[k * distance + i];
    sum[i] = value;
  }
};

/// One image's matrix products, group by group: with M maps and R = rows / groups in a group,
/// weights are M x R, columns R x map_size, maps M x map_size.
class ImageGemm {
 public:
  explicit ImageGemm(const ConvShape& shape)
      : shape_(shape),
        pointwise_(shape.window.IsPointwise()),
        group_maps_(shape.map_channels / shape.groups),
        group_rows_(shape.window.rows() / shape.groups),
        size_(shape.window.map_size) {}

  /// Values of scratch memory that hold the columns of an image, in whole cache lines.
  int64_t column_values() const {
    return pointwise_ ? 0 : (shape_.window.rows() * size_ + 15) / 16 * 16;
  }

  /// The image as columns; pointwise, it is that already.
  const float* Columns(Context& context, const float* image, float* columns) const {
    if (pointwise_) return image;
    (shape_.general ? Im2colNd : Im2col)(context, shape_.window, image, columns);
    return columns;
  }

  void ToMaps(Context& context, const float* columns, const float* weights, float beta,
              float* maps) const {
    for (int64_t group = 0; group < shape_.groups; ++group) {
      Gemm(context, false, false, group_maps_, size_, group_rows_, 1.0f, Weights(weights, group),
           Rows(columns, group), beta, Maps(maps, group));
    }
  }

  void ToImage(Context& context, const float* maps, const float* weights, float* columns,
               float* image) const {
    float* out = pointwise_ ? image : columns;
    for (int64_t group = 0; group < shape_.groups; ++group) {
      Gemm(context, true, false, group_rows_, size_, group_maps_, 1.0f, Weights(weights, group),
           Maps(maps, group), 0.0f, Rows(out, group));
    }
    if (!pointwise_) (shape_.general ? Col2imNd : Col2im)(context, shape_.window, columns, image);
  }

  void WeightGradient(Context& context, const float* columns, const float* maps, float beta,
                      float* gradient) const {
    for (int64_t group = 0; group < shape_.groups; ++group) {
      Gemm(context, false, true, group_maps_, group_rows_, size_, 1.0f, Maps(maps, group),
           Rows(columns, group), beta, Weights(gradient, group));
    }
  }

 private:
  template <typename Float>
  Float* Weights(Float* weights, int64_t group) const {
    return weights + group * group_maps_ * group_rows_;
  }
  template <typename Float>
  Float* Rows(Float* columns, int64_t group) const {
    return columns + group * group_rows_ * size_;
  }
  template <typename Float>
  Float* Maps(Float* maps, int64_t group) const {
    return maps + group * group_maps_ * size_;
  }

  const ConvShape& shape_;
  bool pointwise_;
  int64_t group_maps_;
  int64_t group_rows_;
  int64_t size_;
};

}  // namespace

void ConvToMaps(Context& context, const ConvShape& shape, const float* image, const float* weights,
                const float* bias, float* maps) {
  if (shape.IsDepthwise()) return DepthwiseToMaps(context, shape, image, weights, bias, maps);
  const ImageGemm gemm(shape);
  const int64_t columns = gemm.column_values();
  float* scratch = context.Scratch(ItemWorkers(context, shape.images) * columns);
  ForItems(context, shape.images, [&](Context& own, int64_t item, int worker) {
    float* out = maps + item * shape.map_values();
    const float* in =
        gemm.Columns(own, image + item * shape.window.image_values(), scratch + worker * columns);
    if (bias != nullptr) {
      ForEach2D(own, shape.map_channels, shape.window.map_size,
                FillRows{bias, shape.window.map_size, out});
    }
    gemm.ToMaps(own, in, weights, bias != nullptr ? 1.0f : 0.0f, out);
  });
}

void ConvToImage(Context& context, const ConvShape& shape, const float* maps, const float* weights,
                 const float* bias, float* image) {
  if (shape.IsDepthwise()) return DepthwiseToImage(context, shape, maps, weights, bias, image);
  const ImageGemm gemm(shape);
  const int64_t columns = gemm.column_values();
  float* scratch = context.Scratch(ItemWorkers(context, shape.images) * columns);
  ForItems(context, shape.images, [&](Context& own, int64_t item, int worker) {
    float* out = image + item * shape.window.image_values();
    gemm.ToImage(own, maps + item * shape.map_values(), weights, scratch + worker * columns, out);
    if (bias != nullptr) {
      ForEach2D(own, shape.window.channels, shape.window.image_size,
                AddToRows{bias, shape.window.image_size, out});
    }
  });
}

void ConvWeightGradient(Context& context, const ConvShape& shape, const float* image,
                        const float* maps, float beta, float* gradient) {
  if (shape.IsDepthwise()) {
    return DepthwiseWeightGradient(context, shape, image, maps, beta, gradient);
  }
  const ImageGemm gemm(shape);
  const int workers = ItemWorkers(context, shape.images);
  const int64_t columns = gemm.column_values();
  float* scratch = context.Scratch(workers * columns + (workers - 1) * shape.weights());
  float* partials = scratch + workers * columns;
  ForItems(context, shape.images, [&](Context& own, int64_t item, int worker) {
    // The first worker sums where the result belongs, the others beside it.
    float* sum = worker == 0 ? gradient : partials + (worker - 1) * shape.weights();
    const bool first = item == shape.images * worker / workers;
    const float* in =
        gemm.Columns(own, image + item * shape.window.image_values(), scratch + worker * columns);
    gemm.WeightGradient(own, in, maps + item * shape.map_values(),
                        !first        ? 1.0f
                        : worker == 0 ? beta
                                      : 0.0f,
                        sum);
  });
  if (workers > 1) {
    ForEach(context, shape.weights(),
            AddPartials{partials, shape.weights(), workers - 1, gradient});
  }
}

void ConvBiasGradient(Context& context, int64_t images, int64_t channels, int64_t size,
                      const float* values, float beta, float* gradient) {
  float* sums = context.Scratch(images * channels);
  ReduceRows<SumOf>(context, images * channels, size, LoadRowMajor{values, size},
                    StoreScaled{sums, 1.0f, 0.0f});
  ReduceColumns<SumOf>(context, images, channels, LoadRowMajor{sums, channels},
                       StoreScaled{gradient, 1.0f, beta});
}

}  // namespace moka
