#include "moka/layers/channel_norm.hpp"

#include <cmath>

#include "moka/base/error.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/channels.hpp"

namespace moka {
namespace {

struct InverseDeviation {
  float eps;
  bool under_root;
  MOKA_HD float operator()(float variance) const {
    return under_root ? 1 / sqrtf(variance + eps) : 1 / (sqrtf(variance) + eps);
  }
};

struct SquaredDeviation {
  const float* x;
  const float* mean;
  MOKA_HD float operator()(int64_t channel, int64_t i) const {
    const float deviation = x[i] - mean[channel];
    return deviation * deviation;
  }
};

/// What is kept of the batches seen so far; mean or weight may be null.
struct Stored {
  float* mean;
  float* variance;
  float* weight;
  float keep, add;
};

/// From the sum of squared deviations: what normalises this batch, and what is kept of it.
struct StoreStatistics {
  Stored stored;
  const float* mean;
  float* inverse_deviation;
  float values;  // of a channel
  InverseDeviation inverse;
  MOKA_HD void operator()(int64_t channel, float sum) const {
    const float variance = sum / values;
    inverse_deviation[channel] = inverse(variance);
    if (stored.mean == nullptr) return;
    const float unbiased = values > 1 ? variance * (values / (values - 1)) : variance;
    stored.mean[channel] = stored.keep * stored.mean[channel] + stored.add * mean[channel];
    stored.variance[channel] = stored.keep * stored.variance[channel] + stored.add * unbiased;
    if (channel == 0 && stored.weight != nullptr) *stored.weight = stored.keep * *stored.weight + 1;
  }
};

/// From stored statistics: what normalises any batch.
struct LoadStatistics {
  const float* stored_mean;
  const float* stored_variance;
  const float* weight;  // null for 1
  InverseDeviation inverse;
  float* mean;
  float* inverse_deviation;
  MOKA_HD void operator()(int64_t channel) const {
    const float factor = weight == nullptr ? 1 : *weight == 0 ? 0 : 1 / *weight;
    mean[channel] = stored_mean[channel] * factor;
    inverse_deviation[channel] = inverse(stored_variance[channel] * factor);
  }
};

struct Normalize {
  const float* x;
  const float* mean;
  const float* inverse_deviation;
  const float* scale;  // null for 1
  const float* shift;  // null for 0
  float* kept;         // null if the normalised values need not be kept
  float* y;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float value = (x[i] - mean[channel]) * inverse_deviation[channel];
    if (kept != nullptr) kept[i] = value;
    const float scaled = scale == nullptr ? value : value * scale[channel];
    y[i] = shift == nullptr ? scaled : scaled + shift[channel];
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

/// The gradient goes through mean and variance as well.
struct BatchGradient {
  Normalized y;
  const float* dy;
  const float* scale;  // null for 1
  const float* sum_dy;
  const float* sum_dy_y;
  float share;        // 1 / values of a channel
  float outside_eps;  // eps, if it is not under the root
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float inverse = y.inverse_deviation[channel];
    // The root alone divided by the root and eps is the slope of the deviation.
    const float root_share = 1 - outside_eps * inverse;
    const float spread = root_share > 0 ? sum_dy_y[channel] * share / root_share : 0;
    const float centred = dy[i] - sum_dy[channel] * share - y(channel, i) * spread;
    dx[i] = centred * (scale == nullptr ? inverse : inverse * scale[channel]);
  }
};

struct FixedGradient {
  const float* dy;
  const float* inverse_deviation;
  const float* scale;  // null for 1
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float inverse = inverse_deviation[channel];
    dx[i] = dy[i] * (scale == nullptr ? inverse : inverse * scale[channel]);
  }
};

}  // namespace

void ChannelNormLayer::SetUpNorm(const Norm& norm, int64_t channels) {
  norm_ = norm;
  for (Tensor* tensor : {&mean_, &inverse_deviation_, &sum_dy_, &sum_dy_y_}) {
    tensor->Resize(Shape{channels});
  }
}

void ChannelNormLayer::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  SameShapeLayer::Reshape(bottoms, tops);
  view_ = ViewOf(bottoms[0]->shape());
  Require(view_.axis == mean_.count(), "is made for ", mean_.count(), " channels, but the bottom (",
          bottoms[0]->shape(), ") has ", view_.axis);
  kept_.Resize(bottoms[0]->shape());
}

const float* ChannelNormLayer::ReadParam(Context& context, int param) {
  return has(param) ? param_blob(param).data().Read(context) : nullptr;
}

/// In place, x is gone in Backward, and a layer behind may work in place as well.
bool ChannelNormLayer::KeepsNormalized(const Blob* bottom, const Blob* top) const {
  return bottom == top && (norm_.statistics == Statistics::kBatch || learns(norm_.scale));
}

void ChannelNormLayer::Forward(Context& context, const BlobVector& bottoms,
                               const BlobVector& tops) {
  const float* x = bottoms[0]->data().Read(context);
  if (norm_.statistics == Statistics::kBatch) {
    UseBatch(context, x);
  } else if (norm_.statistics == Statistics::kStored) {
    UseStored(context);
  } else {
    Fill(context, mean_.count(), 0, mean_.Write(context));
    Fill(context, mean_.count(), 1, inverse_deviation_.Write(context));
  }
  const bool keep = KeepsNormalized(bottoms[0], tops[0]);
  float* kept = keep ? kept_.Write(context) : nullptr;
  ForEachChannel(context, view_,
                 Normalize{x, mean_.Read(context), inverse_deviation_.Read(context),
                           ReadParam(context, norm_.scale), ReadParam(context, norm_.shift), kept,
                           tops[0]->data().Write(context)});
}

void ChannelNormLayer::UseBatch(Context& context, const float* x) {
  float* mean = mean_.Write(context);
  SumChannels(context, view_, LoadElement{x}, StoreScaled{mean, 1 / ValuesAChannel(), 0});
  const auto change = [&](int param) {
    return has(param) ? param_blob(param).data().ReadWrite(context) : nullptr;
  };
  const Stored stored{change(norm_.mean), change(norm_.variance), change(norm_.weight), norm_.keep,
                      norm_.add};
  SumChannels(context, view_, SquaredDeviation{x, mean},
              StoreStatistics{stored, mean, inverse_deviation_.Write(context), ValuesAChannel(),
                              InverseDeviation{norm_.eps, norm_.eps_under_root}});
}

void ChannelNormLayer::UseStored(Context& context) {
  ForEach(context, view_.axis,
          LoadStatistics{ReadParam(context, norm_.mean), ReadParam(context, norm_.variance),
                         ReadParam(context, norm_.weight),
                         InverseDeviation{norm_.eps, norm_.eps_under_root}, mean_.Write(context),
                         inverse_deviation_.Write(context)});
}

void ChannelNormLayer::Backward(Context& context, const BlobVector& tops,
                                const std::vector<bool>& propagate, const BlobVector& bottoms) {
  const bool through_batch = norm_.statistics == Statistics::kBatch && propagate[0];
  const float* dy = tops[0]->diff().Read(context);
  const float* inverse_deviation = inverse_deviation_.Read(context);
  const float* scale = ReadParam(context, norm_.scale);
  Normalized y{nullptr, nullptr, inverse_deviation};
  if (through_batch || learns(norm_.scale)) {
    const bool kept = KeepsNormalized(bottoms[0], tops[0]);
    y.values = (kept ? kept_ : bottoms[0]->data()).Read(context);
    y.mean = kept ? nullptr : mean_.Read(context);
    SumChannels(context, view_, GradientTimesNormalized{y, dy},
                StoreScaled{sum_dy_y_.Write(context), 1, 0});
    if (learns(norm_.scale)) AddToGradient(context, sum_dy_y_, norm_.scale);
  }
  if (through_batch || learns(norm_.shift)) {
    SumChannels(context, view_, LoadElement{dy}, StoreScaled{sum_dy_.Write(context), 1, 0});
    if (learns(norm_.shift)) AddToGradient(context, sum_dy_, norm_.shift);
  }
  if (!propagate[0]) return;
  float* dx = bottoms[0]->diff().Write(context);
  if (!through_batch) {
    ForEachChannel(context, view_, FixedGradient{dy, inverse_deviation, scale, dx});
    return;
  }
  ForEachChannel(context, view_,
                 BatchGradient{y, dy, scale, sum_dy_.Read(context), sum_dy_y_.Read(context),
                               1 / ValuesAChannel(), norm_.eps_under_root ? 0 : norm_.eps, dx});
}

void ChannelNormLayer::AddToGradient(Context& context, const Tensor& sums, int param) {
  const float* values = sums.Read(context);
  float beta;
  float* gradient = param_blob(param).diff().Accumulate(context, &beta);
  Axpby(context, sums.count(), 1, values, beta, gradient);
}

int64_t ChannelNormLayer::Operations(const BlobVector&, const BlobVector& tops) const {
  const int64_t normalize = norm_.statistics == Statistics::kBatch ? 6 : 2;
  return (normalize + (has(norm_.scale) ? 2 : 0)) * tops[0]->count();
}

}  // namespace moka
