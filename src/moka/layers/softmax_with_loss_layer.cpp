#include <cfloat>

#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/position_loss.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/softmax.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct LogLossAt {
  ClassLabels labels;
  AxisView view;
  const float* p;
  MOKA_HD ValidSum operator()(int64_t, int64_t position) const {
    if (labels.Ignored(position)) return {0, 0};
    const int64_t outer = position / view.inner, inner = position - outer * view.inner;
    const float chosen = p[(outer * view.axis + labels[position]) * view.inner + inner];
    return {-logf(chosen < FLT_MIN ? FLT_MIN : chosen), 1};  // fmaxf would hide a NaN
  }
};

struct ScaleBy {
  LossScale scale;
  const float* p;
  float* dx;
  MOKA_HD void operator()(int64_t i) const { dx[i] = p[i] * scale(); }
};

struct SubtractTarget {
  ClassLabels labels;
  AxisView view;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t position = outer * view.inner + inner;
    float* column = dx + outer * view.axis * view.inner + inner;
    if (labels.Ignored(position)) {
      for (int64_t a = 0; a < view.axis; ++a) column[a * view.inner] = 0;
    } else {
      column[labels[position] * view.inner] -= scale();
    }
  }
};

/// What part of a position's target each class has, where labels are smoothed or classes weigh
/// differently.
struct TargetParts {
  ClassLabels labels;
  AxisView view;
  const float* class_weight;  // null for 1 each
  float of_label;             // 1 - label_smoothing
  float of_each;              // label_smoothing / C
  float total_weight;
  MOKA_HD float Weight(int64_t a) const { return class_weight == nullptr ? 1.0f : class_weight[a]; }
  MOKA_HD float Sum(int64_t position) const {
    return of_label * Weight(labels[position]) + of_each * total_weight;
  }
};

struct TargetLoss {
  TargetParts parts;
  const float* p;
  float* loss;
  MOKA_HD float LogLoss(int64_t i) const { return -logf(p[i] < FLT_MIN ? FLT_MIN : p[i]); }
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const AxisView& view = parts.view;
    const int64_t position = outer * view.inner + inner;
    loss[position] = 0;
    if (parts.labels.Ignored(position)) return;
    const int64_t begin = outer * view.axis * view.inner + inner, label = parts.labels[position];
    float of_all = 0;
    for (int64_t a = 0; parts.of_each != 0 && a < view.axis; ++a) {
      of_all += parts.Weight(a) * LogLoss(begin + a * view.inner);
    }
    loss[position] = parts.of_label * parts.Weight(label) * LogLoss(begin + label * view.inner) +
                     parts.of_each * of_all;
  }
};

struct TargetGradient {
  TargetParts parts;
  const float* p;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const AxisView& view = parts.view;
    const int64_t position = outer * view.inner + inner;
    const int64_t begin = outer * view.axis * view.inner + inner;
    const bool ignored = parts.labels.Ignored(position);
    const float by = ignored ? 0.0f : scale(), sum = ignored ? 0.0f : parts.Sum(position);
    for (int64_t a = 0; a < view.axis; ++a) {
      const int64_t i = begin + a * view.inner;
      dx[i] = by * (p[i] * sum - parts.of_each * parts.Weight(a));
    }
    if (ignored) return;
    const int64_t label = parts.labels[position];
    dx[begin + label * view.inner] -= by * parts.of_label * parts.Weight(label);
  }
};

/// loss = -sum over positions of sum_k t_k log(max(p_k, FLT_MIN)) / normalizer, where p is the
/// softmax of the scores along softmax_param.axis, and t_k the target: 1 for the label, 0 for the
/// others. See LossNormalizer for loss_param. Positions whose label is ignore_label have neither
/// loss nor gradient. The gradient is (p - t) / normalizer.
///
/// With label_smoothing s the label has 1 - s + s / C, the others s / C; class weights w make
/// t_k w_k of t_k, the gradient (p sum_k t_k w_k - t w) / normalizer, and leave the normalizer as
/// it is. Szegedy et al., "Rethinking the Inception Architecture" (CVPR 2016); SegNet.
///
/// Scores N x C x ..., labels of any shape with one label a position, in [0, C). The second top, if
/// there is one, is p; the third, which SoftmaxWithLossOHEM has, the loss of each position before
/// the normalizer, in the shape of the labels. No gradient enters through them. Throws Error for a
/// label that is no class. Follows Caffe's SoftmaxWithLoss; SoftmaxWithLossOHEM is R-FCN's (Dai et
/// al., 2016).
class SoftmaxWithLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const LossParameter& loss = param().loss_param();
    if (loss.has_ignore_label()) labels_.Ignore(loss.ignore_label());
    if (!(loss.label_smoothing() >= 0 && loss.label_smoothing() <= 1)) {
      FailAt(param(), "loss_param.label_smoothing", "label_smoothing is ", loss.label_smoothing(),
             ", but must be from 0 to 1");
    }
    weights_.ReadFrom(param());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    view_ = AxisView::Of(bottoms[0]->shape(), param().softmax_param().axis());
    const int64_t positions = view_.outer * view_.inner;
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], positions);
    weights_.Fit(param(), view_.axis);
    normalizer_ =
        LossNormalizer(param().loss_param(), LossParameter::VALID, positions, view_.outer);
    p_.Resize(bottoms[0]->shape());
    if (tops.size() > 1) tops[1]->Resize(bottoms[0]->shape());
    if (tops.size() > 2) tops[2]->Resize(bottoms[1]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* scores = bottoms[0]->data().Read(context);
    const ClassLabels labels = labels_.Check(context, *bottoms[1], view_.axis);
    float* p = p_.Write(context);
    SoftmaxForward(context, view_, scores, p);
    if (Plain() && tops.size() < 3) {
      WriteLoss<SumOfValid>(context, bottoms[1]->count(), LogLossAt{labels, view_, p}, normalizer_,
                            tops);
    } else {
      float* loss =
          tops.size() < 3 ? context.Scratch(bottoms[1]->count()) : tops[2]->data().Write(context);
      ForEach2D(context, view_.outer, view_.inner, TargetLoss{Parts(context, labels), p, loss},
                8 * view_.axis);
      WriteLoss<SumOfValid>(context, bottoms[1]->count(), LoadPositionLoss{labels, loss},
                            normalizer_, tops);
    }
    if (tops.size() > 1) Copy(context, p_.count(), p, tops[1]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const ClassLabels labels = labels_.Known(context, *bottoms[1], view_.axis);
    const LossScale scale = Scale(context, tops);
    float* dx = bottoms[0]->diff().Write(context);
    if (!Plain()) {
      ForEach2D(context, view_.outer, view_.inner,
                TargetGradient{Parts(context, labels), p_.Read(context), scale, dx},
                4 * view_.axis);
      return;
    }
    ForEach(context, p_.count(), ScaleBy{scale, p_.Read(context), dx});
    ForEach2D(context, view_.outer, view_.inner, SubtractTarget{labels, view_, scale, dx});
  }

 protected:
  bool TakesClassWeights() const override { return true; }

 private:
  bool Plain() const { return !weights_.given() && param().loss_param().label_smoothing() == 0; }

  TargetParts Parts(Context& context, const ClassLabels& labels) const {
    const float smoothing = param().loss_param().label_smoothing();
    return {labels,
            view_,
            weights_.Read(context),
            1 - smoothing,
            smoothing / static_cast<float>(view_.axis),
            static_cast<float>(weights_.Sum(view_.axis))};
  }

  LabelReader labels_{kClassLabels};
  ClassWeights weights_;
  AxisView view_;
  LossNormalizer normalizer_;
  Tensor p_;
};

const RegisterLayer<SoftmaxWithLossLayer> kRegistration(
    LayerInfo("SoftmaxWithLoss")
        .Summary("softmax and the mean negative log-likelihood of the labels")
        .Field("softmax_param")
        .Bottoms(2, "scores, N x C x ..., and labels, one a position")
        .Tops(1, 2, "the loss, and the probabilities if wanted")
        .MakesMissingTops());

const RegisterLayer<SoftmaxWithLossLayer> kOHEMRegistration(
    LayerInfo("SoftmaxWithLossOHEM")
        .Summary("SoftmaxWithLoss that tells the loss of each region, too (R-FCN)")
        .Field("softmax_param")
        .Bottoms(2, "scores, R x C x ..., and labels, one a position")
        .Tops(1, 3, "the loss, the probabilities and the loss of each position if wanted")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
