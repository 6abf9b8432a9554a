#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/sigmoid_targets.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// log(sigmoid(x)), which never overflows.
MOKA_HD float LogSigmoid(float x) { return fminf(x, 0.0f) - log1pf(expf(-fabsf(x))); }

MOKA_HD float SigmoidOf(float x) { return 1 / (1 + expf(-x)); }

/// The loss of a logit whose truth is "yes", and its slope.
struct FocalCurve {
  float gamma;
  float beta;
  bool linear;
  MOKA_HD float Value(float x) const {
    if (linear) return -LogSigmoid(gamma * x + beta) / gamma;
    return -powf(SigmoidOf(-x), gamma) * LogSigmoid(x);
  }
  MOKA_HD float Slope(float x) const {
    if (linear) return -SigmoidOf(-gamma * x - beta);
    const float miss = SigmoidOf(-x);
    return powf(miss, gamma) * (gamma * SigmoidOf(x) * LogSigmoid(x) - miss);
  }
};

/// "No" is "yes" to the opposite logit.
struct SigmoidFocalAt {
  SigmoidTargets targets;
  FocalCurve curve;
  float alpha;
  const float* x;
  MOKA_HD ValidSum operator()(int64_t, int64_t i) const {
    if (targets.Ignored(i)) return {0, 0};
    const float t = targets.data[i];
    return {t * alpha * curve.Value(x[i]) + (1 - t) * (1 - alpha) * curve.Value(-x[i]), 1};
  }
};

struct SigmoidFocalGradient {
  SigmoidFocalAt at;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t i) const {
    const float t = at.targets.data[i], x = at.x[i];
    const float slope =
        t * at.alpha * at.curve.Slope(x) - (1 - t) * (1 - at.alpha) * at.curve.Slope(-x);
    dx[i] = at.targets.Ignored(i) ? 0.0f : scale() * slope;
  }
};

/// loss = sum_i (t_i alpha f(x_i) + (1 - t_i) (1 - alpha) f(-x_i)) / normalizer, with
/// f(x) = -(1 - s)^gamma log s, s = sigmoid(x); type LINEAR: f(x) = -log(sigmoid(gamma x + beta)) /
/// gamma. The normalizer (LossNormalizer) is the number of items unless loss_param says otherwise;
/// targets equal to ignore_label are left out.
///
/// Two bottoms with as many values, logits and targets in [0, 1]. Throws Error for more than one
/// alpha, and for a gamma below 0 (LINEAR: not above 0). Lin et al., "Focal Loss for Dense Object
/// Detection" (ICCV 2017), equation 5 and, for LINEAR, appendix A.
class SigmoidFocalLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const FocalLossParameter& focal = param().focal_loss_param();
    curve_ = {focal.gamma(), focal.beta(), focal.type() == FocalLossParameter::LINEAR};
    if (!(focal.gamma() >= 0) || (curve_.linear && focal.gamma() == 0)) {
      FailAt(param(), "focal_loss_param.gamma", "gamma is ", focal.gamma(), ", but must be ",
             curve_.linear ? "positive" : "0 or more");
    }
    if (focal.alpha_size() > 1) {
      FailAt(param(), "focal_loss_param.alpha[1]", "takes one alpha, but has ", focal.alpha_size());
    }
    if (focal.alpha_size() == 1) alpha_ = focal.alpha(0);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    RequireTargetOfEach(*bottoms[0], *bottoms[1]);
    const Shape& shape = bottoms[0]->shape();
    normalizer_ = LossNormalizer(param().loss_param(), LossParameter::BATCH_SIZE, shape.Count(),
                                 shape.LegacyDim(0));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    WriteLoss<SumOfValid>(context, bottoms[0]->count(), At(context, bottoms), normalizer_, tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    ForEach(context, bottoms[0]->count(),
            SigmoidFocalGradient{At(context, bottoms), Scale(context, tops),
                                 bottoms[0]->diff().Write(context)});
  }

 private:
  SigmoidFocalAt At(Context& context, const BlobVector& bottoms) const {
    return {SigmoidTargets::Of(context, *bottoms[1], param().loss_param()), curve_, alpha_,
            bottoms[0]->data().Read(context)};
  }

  FocalCurve curve_{};
  float alpha_ = 0.25f;
  LossNormalizer normalizer_;
};

const RegisterLayer<SigmoidFocalLossLayer> kRegistration(
    LayerInfo("SigmoidFocalLoss")
        .Summary("the cross entropy of yes-or-no outputs in which easy ones count less")
        .Field("focal_loss_param")
        .Bottoms(2, "logits and targets in [0, 1], as many values in each")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
