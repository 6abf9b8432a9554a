#include "moka/base/error.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/axis_view.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_normalizer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

constexpr float kIgnored = -1;

struct HitAt {
  ClassLabels labels;
  AxisView view;
  int64_t top_k;
  const float* scores;
  float* hits;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t position = outer * view.inner + inner;
    if (labels.Ignored(position)) {
      hits[position] = kIgnored;
      return;
    }
    const float* column = scores + outer * view.axis * view.inner + inner;
    const float wanted = column[labels[position] * view.inner];
    // The label's own score is among those that are not less. NaN is never less: it wins.
    int64_t better = -1;
    for (int64_t a = 0; a < view.axis; ++a) better += !(column[a * view.inner] < wanted);
    hits[position] = better < top_k ? 1.0f : 0.0f;
  }
};

struct LoadHit {
  const float* hits;
  MOKA_HD ValidSum operator()(int64_t, int64_t position) const {
    return {fmaxf(hits[position], 0.0f), hits[position] == kIgnored ? 0.0 : 1.0};
  }
};

struct LoadHitOfClass {
  ClassLabels labels;
  const float* hits;
  MOKA_HD ValidSum operator()(int64_t label, int64_t position) const {
    if (hits[position] == kIgnored || labels[position] != label) return {0, 0};
    return {hits[position], 1};
  }
};

struct StoreMean {
  float* mean;
  MOKA_HD void operator()(int64_t row, const ValidSum& total) const {
    mean[row] = total.valid > 0 ? static_cast<float>(total.sum / total.valid) : 0.0f;
  }
};

/// The share of positions whose label is among the top_k scores along `axis`. Another class with
/// the same score counts as better. Positions with ignore_label do not count; without any position
/// the accuracy is 0.
///
/// Scores N x C x ..., labels of any shape with one label a position, in [0, C). The second top, if
/// there is one, has the accuracy of each class (C), 0 for a class without samples. Throws Error
/// for a label that is no class. No derivative. Follows Caffe's Accuracy.
class AccuracyLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const AccuracyParameter& accuracy = param().accuracy_param();
    if (accuracy.has_ignore_label()) labels_.Ignore(accuracy.ignore_label());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const AccuracyParameter& accuracy = param().accuracy_param();
    view_ = AxisView::Of(bottoms[0]->shape(), accuracy.axis());
    Require(accuracy.top_k() <= view_.axis, "top_k is ", accuracy.top_k(), ", but there are ",
            view_.axis, " classes (axis ", accuracy.axis(), " of ", bottoms[0]->shape(), ")");
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], view_.outer * view_.inner);
    tops[0]->Resize(Shape());
    if (tops.size() > 1) tops[1]->Resize(Shape{view_.axis});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const int64_t positions = bottoms[1]->count();
    const float* scores = bottoms[0]->data().Read(context);
    const ClassLabels labels = labels_.Check(context, *bottoms[1], view_.axis);
    float* hits = context.Scratch(positions);
    ForEach2D(context, view_.outer, view_.inner,
              HitAt{labels, view_, param().accuracy_param().top_k(), scores, hits}, view_.axis);
    ReduceRows<SumOfValid>(context, 1, positions, LoadHit{hits},
                           StoreMean{tops[0]->data().Write(context)});
    if (tops.size() == 1) return;
    ReduceRows<SumOfValid>(context, view_.axis, positions, LoadHitOfClass{labels, hits},
                           StoreMean{tops[1]->data().Write(context)});
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return bottoms[0]->count();
  }

 private:
  LabelReader labels_{kClassLabels};
  AxisView view_;
};

const RegisterLayer<AccuracyLayer> kRegistration(
    LayerInfo("Accuracy")
        .Summary("the share of labels among the best scores")
        .Field("accuracy_param")
        .Bottoms(2, "scores, N x C x ..., and labels, one a position")
        .Tops(1, 2, "the accuracy, and that of each class if wanted"));

}  // namespace
}  // namespace moka
