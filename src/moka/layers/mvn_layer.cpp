#include <cmath>

#include "moka/device/reduce.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct LoadSquareAround {
  const float* x;
  const float* means;
  int64_t columns;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const float d = x[row * columns + column] - means[row];
    return d * d;
  }
};

/// Keeps sqrt(variance) + eps.
struct StoreDeviation {
  float* deviations;
  float scale, eps;
  MOKA_HD void operator()(int64_t row, float sum) const {
    deviations[row] = sqrtf(sum * scale) + eps;
  }
};

struct Normalise {
  const float* x;
  const float* means;
  const float* deviations;  // null for differences alone
  int64_t columns;
  float* y;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const float d = x[i] - means[row];
    y[i] = deviations == nullptr ? d : d / deviations[row];
  }
};

struct LoadProduct {
  const float* a;
  const float* b;
  int64_t columns;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    return a[row * columns + column] * b[row * columns + column];
  }
};

struct NormaliseGradient {
  const float* y;
  const float* dy;
  const float* mean_dy;
  const float* mean_y_dy;  // null for differences alone
  const float* deviations;
  int64_t columns;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const float d = dy[i] - mean_dy[row];
    dx[i] = mean_y_dy == nullptr ? d : (d - y[i] * mean_y_dy[row]) / deviations[row];
  }
};

/// Mean and variance normalisation of each channel of each item, or of each item with
/// across_channels: y = (x - mean) / (sqrt(variance) + eps), or x - mean without
/// normalize_variance. The top has four axes, N x C x H x W, with 1 for those that are missing.
/// The gradient takes eps for small, as Caffe's does. Follows Caffe's MVN. Throws for more than
/// four axes.
class MVNLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() <= 4, "takes at most four axes, N x C x H x W, but bottom \"",
            bottoms[0]->name(), "\" has shape ", in);
    const Shape shape{in.LegacyDim(0), in.LegacyDim(1), in.LegacyDim(2), in.LegacyDim(3)};
    tops[0]->Resize(shape);
    rows_ = shape.Count(0, mvn().across_channels() ? 1 : 2);
    columns_ = shape.Count(mvn().across_channels() ? 1 : 2);
    deviations_.Resize({rows_});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    float* y = tops[0]->data().Write(context);
    float* means = context.Scratch(rows_);
    const float scale = 1.0f / static_cast<float>(columns_);
    ReduceRows<SumOf>(context, rows_, columns_, LoadRowMajor{x, columns_},
                      StoreScaled{means, scale, 0});
    float* deviations = nullptr;
    if (mvn().normalize_variance()) {
      deviations = deviations_.Write(context);
      ReduceRows<SumOf>(context, rows_, columns_, LoadSquareAround{x, means, columns_},
                        StoreDeviation{deviations, scale, mvn().eps()});
    }
    ForEach2D(context, rows_, columns_, Normalise{x, means, deviations, columns_, y});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* y = tops[0]->data().Read(context);
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    float* mean_dy = context.Scratch(2 * rows_);
    const float scale = 1.0f / static_cast<float>(columns_);
    ReduceRows<SumOf>(context, rows_, columns_, LoadRowMajor{dy, columns_},
                      StoreScaled{mean_dy, scale, 0});
    float* mean_y_dy = nullptr;
    const float* deviations = nullptr;
    if (mvn().normalize_variance()) {
      mean_y_dy = mean_dy + rows_;
      deviations = deviations_.Read(context);
      ReduceRows<SumOf>(context, rows_, columns_, LoadProduct{y, dy, columns_},
                        StoreScaled{mean_y_dy, scale, 0});
    }
    ForEach2D(context, rows_, columns_,
              NormaliseGradient{y, dy, mean_dy, mean_y_dy, deviations, columns_, dx});
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    return tops[0]->count() * (mvn().normalize_variance() ? 6 : 2);
  }

 private:
  const MVNParameter& mvn() const { return param().mvn_param(); }

  int64_t rows_ = 0, columns_ = 0;
  Tensor deviations_;
};

const RegisterLayer<MVNLayer> kRegistration(LayerInfo("MVN")
                                                .Summary("normalises mean and variance")
                                                .Field("mvn_param")
                                                .Bottoms(1, "N x C x H x W, or fewer axes")
                                                .Tops(1, "N x C x H x W"));

}  // namespace
}  // namespace moka
