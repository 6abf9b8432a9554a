#pragma once

#include "moka/layers/axis_view.hpp"
#include "moka/layers/layer.hpp"

namespace moka {

/// What BatchNorm and the BN layers of forks share: by channel,
///
///     y = scale (x - mean) / sqrt(variance + eps) + shift
///
/// with the batch's mean and biased variance, with stored ones, or with none (mean 0, deviation 1),
/// and with the last step left out where there are no params for it. A class that derives from it
/// gives SetUp: it declares the params and calls `SetUpNorm`.
///
/// Bottom N x C x ..., any number of axes; with one axis all values are one channel. Throws Error
/// when the number of channels changes.
class ChannelNormLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;
  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override;
  int64_t Operations(const BlobVector& bottoms, const BlobVector& tops) const override;

 protected:
  enum class Statistics { kBatch, kStored, kNone };

  struct Norm {
    Statistics statistics = Statistics::kBatch;
    float eps = 0;
    bool eps_under_root = true;  // false: sqrt(variance) + eps
    /// Numbers of the params, -1 where there is none. Stored statistics are mean / weight and
    /// variance / weight. A batch changes them: stored = keep stored + add batch's (with the
    /// unbiased variance), weight = keep weight + 1.
    int mean = -1, variance = -1, weight = -1;
    float keep = 0, add = 1;
    int scale = -1, shift = -1;
  };

  /// The number of channels of a bottom.
  static int64_t ChannelsOf(const Shape& shape) { return ViewOf(shape).axis; }

  void SetUpNorm(const Norm& norm, int64_t channels);

 private:
  static AxisView ViewOf(const Shape& shape) {
    return shape.axes() < 2 ? AxisView{shape.Count(), 1, 1} : AxisView::Of(shape, 1);
  }

  bool has(int param) const { return param >= 0; }
  bool learns(int param) const { return has(param) && param_propagate(param); }
  const float* ReadParam(Context& context, int param);
  float ValuesAChannel() const { return static_cast<float>(view_.outer * view_.inner); }
  bool KeepsNormalized(const Blob* bottom, const Blob* top) const;
  void UseBatch(Context& context, const float* x);
  void UseStored(Context& context);
  void AddToGradient(Context& context, const Tensor& sums, int param);

  Norm norm_;
  AxisView view_;
  Tensor mean_, inverse_deviation_, sum_dy_, sum_dy_y_;
  Tensor kept_;  // the normalised values, where x does not stay
};

}  // namespace moka
