#include "moka/layers/axis_view.hpp"
#include "moka/layers/pair_loss.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/smooth_l1.hpp"

namespace moka {
namespace {

/// The loss of a position: the sum over its channels.
struct SumOverChannels {
  SmoothMagnitude function;
  WeightedPair pair;
  int64_t channels, inner;
  float* loss;
  MOKA_HD void operator()(int64_t outer, int64_t position) const {
    float sum = 0;
    for (int64_t c = 0; c < channels; ++c) {
      sum += function.Value(pair.Difference((outer * channels + c) * inner + position));
    }
    loss[outer * inner + position] = sum;
  }
};

struct LoadPositions {
  const float* loss;
  MOKA_HD ValidSum operator()(int64_t, int64_t i) const { return {loss[i], 1}; }
};

/// SmoothL1Loss for online hard example mining: the second top has the loss of every region,
///
///     l_r = sum over channels of f(weight * (a - b)), with f(d) = (sigma d)^2 / 2 where |d| < 1 /
///     sigma^2, else |d| - 1 / (2 sigma^2),
///
/// and the first sum_r l_r / normalizer; see LossNormalizer for loss_param (PRE_FIXED in R-FCN;
/// VALID and FULL both divide by the number of regions). sigma is smooth_l1_loss_param's, 1 by
/// default.
///
/// Bottoms: predictions and targets, R x C (x H x W), and weights if given, as many values in each.
/// Second top: R x 1 (x H x W); no gradient enters through it. Predictions and targets have a
/// derivative. R-FCN's layer (Dai et al., 2016). Throws for bottoms of different sizes.
class SmoothL1LossOHEMLayer : public PairLossLayer<SmoothMagnitude> {
 public:
  using PairLossLayer::PairLossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const float sigma = param().smooth_l1_loss_param().sigma();
    Require(sigma > 0, "smooth_l1_loss_param.sigma is ", sigma, ", but must be positive");
    function_.sigma_squared = sigma * sigma;
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    PairLossLayer::Reshape(bottoms, tops);
    const Shape& shape = bottoms[0]->shape();
    Require(shape.axes() > 1, "needs predictions R x C, but bottom \"", bottoms[0]->name(),
            "\" has shape ", shape);
    view_ = AxisView::Of(shape, 1);
    normalizer_ = LossNormalizer(param().loss_param(), LossParameter::VALID,
                                 view_.outer * view_.inner, view_.outer);
    loss_.Resize(shape.With(1, 1));
    if (tops.size() > 1) tops[1]->Resize(loss_.shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const WeightedPair pair = PairOf(context, bottoms);
    float* loss = (tops.size() > 1 ? tops[1]->data() : loss_).Write(context);
    ForEach2D(context, view_.outer, view_.inner,
              SumOverChannels{function_, pair, view_.axis, view_.inner, loss}, 4 * view_.axis);
    WriteLoss<SumOfValid>(context, loss_.count(), LoadPositions{loss}, normalizer_, tops);
  }

 private:
  AxisView view_;
  LossNormalizer normalizer_;
  Tensor loss_;  // where there is no second top
};

const RegisterLayer<SmoothL1LossOHEMLayer> kRegistration(
    LayerInfo("SmoothL1LossOHEM")
        .Summary("SmoothL1Loss that tells the loss of each region, too (R-FCN)")
        .Field("smooth_l1_loss_param")
        .Bottoms(2, 3, "predictions, R x C x ..., targets, weights")
        .Tops(1, 2, "the loss, and the loss of each region if wanted")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
