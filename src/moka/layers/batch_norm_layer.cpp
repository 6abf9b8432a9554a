#include <cmath>

#include "moka/base/error.hpp"
#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct SquaredDeviation {
  const float* x;
  const float* mean;
  MOKA_HD float operator()(int64_t channel, int64_t i) const {
    const float deviation = x[i] - mean[channel];
    return deviation * deviation;
  }
};

/// Moving sums of batch means and variances, and the sum of their weights.
struct Statistics {
  float* mean;
  float* variance;
  float* weight;
};

/// From the sum of squared deviations: what normalises this batch, and the new moving sums.
struct StoreStatistics {
  Statistics moving;
  const float* mean;
  float* inverse_deviation;
  float values;  // of a channel
  float fraction;
  float eps;
  MOKA_HD void operator()(int64_t channel, float sum) const {
    const float variance = sum / values;
    const float unbiased = values > 1 ? variance * (values / (values - 1)) : variance;
    inverse_deviation[channel] = 1 / sqrtf(variance + eps);
    moving.mean[channel] = fraction * moving.mean[channel] + mean[channel];
    moving.variance[channel] = fraction * moving.variance[channel] + unbiased;
    if (channel == 0) *moving.weight = fraction * *moving.weight + 1;
  }
};

/// From the moving sums: what normalises any batch.
struct MovingAverages {
  const float* moving_mean;
  const float* moving_variance;
  const float* weight;
  float eps;
  float* mean;
  float* inverse_deviation;
  MOKA_HD void operator()(int64_t channel) const {
    const float factor = *weight == 0 ? 0 : 1 / *weight;
    mean[channel] = moving_mean[channel] * factor;
    inverse_deviation[channel] = 1 / sqrtf(moving_variance[channel] * factor + eps);
  }
};

struct Normalize {
  const float* x;
  const float* mean;
  const float* inverse_deviation;
  float* kept;  // null if y need not be kept
  float* y;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float value = (x[i] - mean[channel]) * inverse_deviation[channel];
    if (kept != nullptr) kept[i] = value;
    y[i] = value;
  }
};

/// The normalised values in Backward: kept, or computed again from x.
struct Normalized {
  const float* values;
  const float* mean;  // null if `values` are normalised
  const float* inverse_deviation;
  MOKA_HD float operator()(int64_t channel, int64_t i) const {
    if (mean == nullptr) return values[i];
    return (values[i] - mean[channel]) * inverse_deviation[channel];
  }
};

struct GradientTimesNormalized {
  Normalized y;
  const float* dy;
  MOKA_HD float operator()(int64_t channel, int64_t i) const { return dy[i] * y(channel, i); }
};

struct BatchGradient {
  Normalized y;
  const float* dy;
  const float* mean_dy;
  const float* mean_dy_y;
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float centred = dy[i] - mean_dy[channel] - y(channel, i) * mean_dy_y[channel];
    dx[i] = centred * y.inverse_deviation[channel];
  }
};

struct FixedGradient {
  const float* dy;
  const float* inverse_deviation;
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    dx[i] = dy[i] * inverse_deviation[channel];
  }
};

/// y = (x - mean) / sqrt(variance + eps), by channel.
///
/// In training (use_global_stats: false) mean and biased variance are the batch's, and three params
/// follow them as moving sums with f = moving_average_fraction: mean = f mean + batch mean,
/// variance = f variance + m / (m - 1) batch variance (m values a channel; factor 1 for m = 1), and
/// their weight = f weight + 1. In testing the first two divided by the third are used. Solvers
/// leave the three alone.
///
/// Bottom N x C x ..., any number of axes; with one axis all values are one channel. Throws Error
/// for a param entry that would have them learned. Ioffe and Szegedy (ICML 2015); follows Caffe's
/// BatchNorm, which leaves factor and bias to a Scale layer behind it.
class BatchNormLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const BatchNormParameter& norm = param().batch_norm_param();
    fixed_ = norm.has_use_global_stats() ? norm.use_global_stats() : phase() == TEST;
    Require(!norm.scale_bias(),
            "scale_bias is not supported: put a Scale layer with bias_term: ", "true behind it");
    for (const ParamSpec& spec : param().param()) {
      Require(spec.lr_mult() == 0, "mean, variance and their weight are not learned: set lr_mult: ",
              "0 in its param entries, or leave them out");
    }
    const Shape channels{ChannelsOf(bottoms[0]->shape()).axis};
    AddStatistic(channels);
    AddStatistic(channels);
    AddStatistic(Shape{1});
    mean_.Resize(channels);
    inverse_deviation_.Resize(channels);
    mean_dy_.Resize(channels);
    mean_dy_y_.Resize(channels);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    SameShapeLayer::Reshape(bottoms, tops);
    view_ = ChannelsOf(bottoms[0]->shape());
    Require(view_.axis == mean_.count(), "has statistics of ", mean_.count(),
            " channels, but the bottom (", bottoms[0]->shape(), ") has ", view_.axis);
    kept_.Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    if (fixed_) {
      UseMovingAverages(context);
    } else {
      UseBatch(context, x);
    }
    // In place, x is gone in Backward, and a layer behind may work in place as well.
    const bool keep = !fixed_ && tops[0] == bottoms[0];
    float* kept = keep ? kept_.Write(context) : nullptr;
    ForEachChannel(context, view_,
                   Normalize{x, mean_.Read(context), inverse_deviation_.Read(context), kept,
                             tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    const float* inverse_deviation = inverse_deviation_.Read(context);
    if (fixed_) {
      float* dx = bottoms[0]->diff().Write(context);
      ForEachChannel(context, view_, FixedGradient{dy, inverse_deviation, dx});
      return;
    }
    const bool kept = tops[0] == bottoms[0];
    const Normalized y{(kept ? kept_ : bottoms[0]->data()).Read(context),
                       kept ? nullptr : mean_.Read(context), inverse_deviation};
    float* mean_dy = mean_dy_.Write(context);
    float* mean_dy_y = mean_dy_y_.Write(context);
    const float share = 1 / ValuesAChannel();
    SumChannels(context, view_, LoadElement{dy}, StoreScaled{mean_dy, share, 0});
    SumChannels(context, view_, GradientTimesNormalized{y, dy}, StoreScaled{mean_dy_y, share, 0});
    ForEachChannel(context, view_,
                   BatchGradient{y, dy, mean_dy, mean_dy_y, bottoms[0]->diff().Write(context)});
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    return (fixed_ ? 2 : 6) * tops[0]->count();
  }

 private:
  static AxisView ChannelsOf(const Shape& shape) {
    return shape.axes() < 2 ? AxisView{shape.Count(), 1, 1} : AxisView::Of(shape, 1);
  }

  float ValuesAChannel() const { return static_cast<float>(view_.outer * view_.inner); }

  void UseBatch(Context& context, const float* x) {
    const BatchNormParameter& norm = param().batch_norm_param();
    float* mean = mean_.Write(context);
    SumChannels(context, view_, LoadElement{x}, StoreScaled{mean, 1 / ValuesAChannel(), 0});
    const Statistics moving{param_blob(0).data().ReadWrite(context),
                            param_blob(1).data().ReadWrite(context),
                            param_blob(2).data().ReadWrite(context)};
    SumChannels(context, view_, SquaredDeviation{x, mean},
                StoreStatistics{moving, mean, inverse_deviation_.Write(context), ValuesAChannel(),
                                norm.moving_average_fraction(), norm.eps()});
  }

  void UseMovingAverages(Context& context) {
    const float* moving_mean = param_blob(0).data().Read(context);
    const float* moving_variance = param_blob(1).data().Read(context);
    const float* weight = param_blob(2).data().Read(context);
    ForEach(context, view_.axis,
            MovingAverages{moving_mean, moving_variance, weight, param().batch_norm_param().eps(),
                           mean_.Write(context), inverse_deviation_.Write(context)});
  }

  bool fixed_ = false;
  AxisView view_;
  Tensor mean_, inverse_deviation_, mean_dy_, mean_dy_y_;
  Tensor kept_;  // y, where the top does not stay
};

const RegisterLayer<BatchNormLayer> kRegistration(LayerInfo("BatchNorm")
                                                      .Summary("mean 0 and variance 1 by channel")
                                                      .Field("batch_norm_param")
                                                      .Bottoms(1, "N x C x ...")
                                                      .Tops(1, "the same shape")
                                                      .InPlace());

}  // namespace
}  // namespace moka
