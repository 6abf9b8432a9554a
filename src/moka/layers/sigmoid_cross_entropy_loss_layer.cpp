#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/sigmoid_targets.hpp"

namespace moka {
namespace {

struct CrossEntropyAt {
  SigmoidTargets targets;
  const float* x;
  MOKA_HD ValidSum operator()(int64_t, int64_t i) const {
    if (targets.Ignored(i)) return {0, 0};
    const float positive = x[i] >= 0 ? 1.0f : 0.0f;
    return {log1pf(expf(-fabsf(x[i]))) - x[i] * (targets.data[i] - positive), 1};
  }
};

struct CrossEntropyGradient {
  SigmoidTargets targets;
  const float* x;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t i) const {
    const float gradient = scale() * (1 / (1 + expf(-x[i])) - targets.data[i]);
    dx[i] = targets.Ignored(i) ? 0.0f : gradient;
  }
};

/// loss = -sum_i (t_i log s_i + (1 - t_i) log(1 - s_i)) / normalizer, s = sigmoid(x), computed so
/// that nothing overflows. The gradient is (s - t) / normalizer. The normalizer (LossNormalizer) is
/// the number of items unless loss_param says otherwise; targets equal to ignore_label are left
/// out.
///
/// Two bottoms with as many values, logits and targets in [0, 1]. Follows Caffe's
/// SigmoidCrossEntropyLoss, which also took soft targets in (-1, 1) for ignore_label 0.
class SigmoidCrossEntropyLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    RequireTargetOfEach(*bottoms[0], *bottoms[1]);
    const Shape& shape = bottoms[0]->shape();
    normalizer_ = LossNormalizer(param().loss_param(), LossParameter::BATCH_SIZE, shape.Count(),
                                 shape.LegacyDim(0));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const CrossEntropyAt load{TargetsOf(context, *bottoms[1]), x};
    WriteLoss<SumOfValid>(context, bottoms[0]->count(), load, normalizer_, tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* x = bottoms[0]->data().Read(context);
    ForEach(context, bottoms[0]->count(),
            CrossEntropyGradient{TargetsOf(context, *bottoms[1]), x, Scale(context, tops),
                                 bottoms[0]->diff().Write(context)});
  }

 private:
  SigmoidTargets TargetsOf(Context& context, const Blob& targets) const {
    return SigmoidTargets::Of(context, targets, param().loss_param());
  }

  LossNormalizer normalizer_;
};

const RegisterLayer<SigmoidCrossEntropyLossLayer> kRegistration(
    LayerInfo("SigmoidCrossEntropyLoss")
        .Summary("the cross entropy of independent yes-or-no outputs")
        .Field("loss_param")
        .Bottoms(2, "logits and targets in [0, 1], as many values in each")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
