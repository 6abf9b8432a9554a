#include "moka/device/for_each.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

constexpr float kLeastProbability = 1e-20f;

struct LogLossAt {
  ClassLabels labels;
  const float* p;
  MOKA_HD double operator()(int64_t, int64_t item) const {
    return -logf(fmaxf(p[item * labels.classes + labels[item]], kLeastProbability));
  }
};

struct LogLossGradient {
  ClassLabels labels;
  const float* p;
  LossScale scale;
  float* dp;
  MOKA_HD void operator()(int64_t item, int64_t label) const {
    const int64_t i = item * labels.classes + label;
    dp[i] = label == labels[item] ? -scale() / fmaxf(p[i], kLeastProbability) : 0.0f;
  }
};

/// loss = -sum_n log(max(p_n,label, 1e-20)) / N for given probabilities; the gradient at the label
/// is -1 / (N max(p, 1e-20)).
///
/// Probabilities N x C (all axes after the first count as one), N labels in [0, C). Throws Error
/// for a label that is no class. Follows Caffe's MultinomialLogisticLoss.
class MultinomialLogisticLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    items_ = bottoms[0]->shape().LegacyDim(0);
    classes_ = bottoms[0]->shape().Count(1);
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], items_);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* p = bottoms[0]->data().Read(context);
    const LogLossAt load{labels_.Check(context, *bottoms[1], classes_), p};
    WriteLoss<SumOfDoubles>(context, items_, load, LossNormalizer(static_cast<double>(items_)),
                            tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const ClassLabels labels = labels_.Known(context, *bottoms[1], classes_);
    const float* p = bottoms[0]->data().Read(context);
    ForEach2D(context, items_, classes_,
              LogLossGradient{labels, p, Scale(context, tops), bottoms[0]->diff().Write(context)});
  }

 private:
  LabelReader labels_{kClassLabels};
  int64_t items_ = 0;
  int64_t classes_ = 0;
};

const RegisterLayer<MultinomialLogisticLossLayer> kRegistration(
    LayerInfo("MultinomialLogisticLoss")
        .Summary("the mean negative log-likelihood of labels under given probabilities")
        .Field("loss_param")
        .Bottoms(2, "probabilities, N x C, and N labels")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
