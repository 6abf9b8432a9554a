#include <cfloat>

#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/softmax.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// The formula at one position: what the probability given to its label costs.
struct FocalTerms {
  ClassLabels labels;
  AxisView view;
  const float* alpha;  // one a class
  float gamma;
  const float* p;
  MOKA_HD float Chosen(int64_t position) const {
    const int64_t outer = position / view.inner, inner = position - outer * view.inner;
    return p[(outer * view.axis + labels[position]) * view.inner + inner];
  }
  MOKA_HD static float Log(float chosen) { return logf(chosen < FLT_MIN ? FLT_MIN : chosen); }
  /// Never 0, so that powers below 0 stay finite; they meet a logarithm of 0 then.
  MOKA_HD static float Miss(float chosen) { return fmaxf(1 - chosen, FLT_MIN); }
};

struct FocalLossAt {
  FocalTerms terms;
  MOKA_HD ValidSum operator()(int64_t, int64_t position) const {
    if (terms.labels.Ignored(position)) return {0, 0};
    const float chosen = terms.Chosen(position), alpha = terms.alpha[terms.labels[position]];
    return {-alpha * powf(terms.Miss(chosen), terms.gamma) * terms.Log(chosen), 1};
  }
};

/// What p - [class = label] is multiplied by in the gradient of a position.
struct FocalFactor {
  FocalTerms terms;
  LossScale scale;
  float* factor;
  MOKA_HD void operator()(int64_t position) const {
    factor[position] = 0;
    if (terms.labels.Ignored(position)) return;
    const float chosen = terms.Chosen(position), miss = terms.Miss(chosen);
    const float alpha = terms.alpha[terms.labels[position]];
    factor[position] = scale() * alpha * powf(miss, terms.gamma) *
                       (1 - terms.gamma * chosen * terms.Log(chosen) / miss);
  }
};

struct FocalGradient {
  ClassLabels labels;
  AxisView view;
  const float* p;
  const float* factor;
  float* dx;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t position = outer * view.inner + inner;
    const int64_t begin = outer * view.axis * view.inner + inner;
    for (int64_t a = 0; a < view.axis; ++a) {
      const int64_t i = begin + a * view.inner;
      dx[i] = factor[position] * p[i];
    }
    if (!labels.Ignored(position)) dx[begin + labels[position] * view.inner] -= factor[position];
  }
};

/// loss = -sum over positions of alpha (1 - p_label)^gamma log(max(p_label, FLT_MIN)) / normalizer,
/// where p is the softmax of the scores along softmax_param.axis; alpha is one number or one a
/// class. See LossNormalizer for loss_param; positions whose label is ignore_label have neither
/// loss nor gradient.
///
/// Scores N x C x ..., labels of any shape with one label a position, in [0, C). Throws Error for a
/// label that is no class, for a negative gamma, and for type LINEAR, which is defined for
/// sigmoids. Lin et al., "Focal Loss for Dense Object Detection" (ICCV 2017).
class FocalLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const LossParameter& loss = param().loss_param();
    if (loss.has_ignore_label()) labels_.Ignore(loss.ignore_label());
    const FocalLossParameter& focal = param().focal_loss_param();
    if (focal.type() != FocalLossParameter::ORIGIN) {
      FailAt(param(), "focal_loss_param.type", "LINEAR is defined for SigmoidFocalLoss only");
    }
    if (!(focal.gamma() >= 0)) {
      FailAt(param(), "focal_loss_param.gamma", "gamma is ", focal.gamma(),
             ", but must be 0 or more");
    }
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    view_ = AxisView::Of(bottoms[0]->shape(), param().softmax_param().axis());
    const int64_t positions = view_.outer * view_.inner;
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], positions);
    FitAlpha();
    normalizer_ =
        LossNormalizer(param().loss_param(), LossParameter::VALID, positions, view_.outer);
    p_.Resize(bottoms[0]->shape());
    factor_.Resize(Shape{positions});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* scores = bottoms[0]->data().Read(context);
    const ClassLabels labels = labels_.Check(context, *bottoms[1], view_.axis);
    SoftmaxForward(context, view_, scores, p_.Write(context));
    WriteLoss<SumOfValid>(context, bottoms[1]->count(), FocalLossAt{Terms(context, labels)},
                          normalizer_, tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const ClassLabels labels = labels_.Known(context, *bottoms[1], view_.axis);
    const FocalTerms terms = Terms(context, labels);
    ForEach(context, factor_.count(),
            FocalFactor{terms, Scale(context, tops), factor_.Write(context)});
    ForEach2D(context, view_.outer, view_.inner,
              FocalGradient{labels, view_, terms.p, factor_.Read(context),
                            bottoms[0]->diff().Write(context)},
              view_.axis);
  }

 private:
  void FitAlpha() {
    const auto& given = param().focal_loss_param().alpha();
    const size_t classes = static_cast<size_t>(view_.axis);
    std::vector<float> alpha(given.begin(), given.end());
    if (alpha.size() < 2) alpha.assign(classes, alpha.empty() ? kUsualAlpha : alpha[0]);
    alpha_.Set(alpha, "focal_loss_param.alpha");
    alpha_.Fit(param(), view_.axis);
  }

  FocalTerms Terms(Context& context, const ClassLabels& labels) const {
    return {labels, view_, alpha_.Read(context), param().focal_loss_param().gamma(),
            p_.Read(context)};
  }

  static constexpr float kUsualAlpha = 0.25f;

  LabelReader labels_{kClassLabels};
  ClassWeights alpha_;
  AxisView view_;
  LossNormalizer normalizer_;
  Tensor p_;
  Tensor factor_;
};

LayerInfo Info(const std::string& type) {
  return LayerInfo(type)
      .Summary("softmax and a log-likelihood in which easy samples count less")
      .Field("focal_loss_param")
      .Bottoms(2, "scores, N x C x ..., and labels, one a position")
      .Tops(1, "the loss")
      .MakesMissingTops();
}

const RegisterLayer<FocalLossLayer> kRegistrations[] = {
    RegisterLayer<FocalLossLayer>(Info("FocalLoss")),
    RegisterLayer<FocalLossLayer>(Info("SoftmaxFocalLoss")),
};

}  // namespace
}  // namespace moka
