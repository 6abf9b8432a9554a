#include <cfloat>

#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/softmax.hpp"

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

/// loss = -sum over positions of log(max(p_label, FLT_MIN)) / normalizer, where p is the softmax of
/// the scores along softmax_param.axis; see LossNormalizer for loss_param. Positions whose label is
/// ignore_label have neither loss nor gradient. The gradient is (p - [class = label]) / normalizer.
///
/// Scores N x C x ..., labels of any shape with one label a position, in [0, C). The second top, if
/// there is one, is p; no gradient enters through it. Throws Error for a label that is no class.
/// Follows Caffe's SoftmaxWithLoss.
class SoftmaxWithLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const LossParameter& loss = param().loss_param();
    if (loss.has_ignore_label()) labels_.Ignore(loss.ignore_label());
    Require(loss.label_smoothing() == 0, "loss_param.label_smoothing is not supported");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    view_ = AxisView::Of(bottoms[0]->shape(), param().softmax_param().axis());
    const int64_t positions = view_.outer * view_.inner;
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], positions);
    normalizer_ =
        LossNormalizer(param().loss_param(), LossParameter::VALID, positions, view_.outer);
    p_.Resize(bottoms[0]->shape());
    if (tops.size() > 1) tops[1]->Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* scores = bottoms[0]->data().Read(context);
    const ClassLabels labels = labels_.Check(context, *bottoms[1], view_.axis);
    float* p = p_.Write(context);
    SoftmaxForward(context, view_, scores, p);
    WriteLoss<SumOfValid>(context, bottoms[1]->count(), LogLossAt{labels, view_, p}, normalizer_,
                          tops);
    if (tops.size() > 1) Copy(context, p_.count(), p, tops[1]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const ClassLabels labels = labels_.Known(context, *bottoms[1], view_.axis);
    const LossScale scale = Scale(context, tops);
    float* dx = bottoms[0]->diff().Write(context);
    ForEach(context, p_.count(), ScaleBy{scale, p_.Read(context), dx});
    ForEach2D(context, view_.outer, view_.inner, SubtractTarget{labels, view_, scale, dx});
  }

 private:
  LabelReader labels_{kClassLabels};
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

}  // namespace
}  // namespace moka
