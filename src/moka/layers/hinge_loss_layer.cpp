#include "moka/device/for_each.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct Margin {
  ClassLabels labels;
  const float* scores;
  bool squared;
  MOKA_HD float Sign(int64_t row, int64_t column) const {
    return column == labels[row] ? -1.0f : 1.0f;
  }
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    return fmaxf(0.0f, 1 + Sign(row, column) * scores[row * labels.classes + column]);
  }
};

struct LoadMargin {
  Margin margin;
  MOKA_HD double operator()(int64_t row, int64_t column) const {
    const float m = margin(row, column);
    return margin.squared ? m * m : m;
  }
};

struct StoreRow {
  float* out;
  MOKA_HD void operator()(int64_t row, double value) const { out[row] = static_cast<float>(value); }
};

struct LoadRow {
  const float* rows;
  MOKA_HD double operator()(int64_t, int64_t row) const { return rows[row]; }
};

struct HingeGradient {
  Margin margin;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const float m = margin(row, column);
    const float slope = margin.squared ? 2 * m : (m > 0 ? 1.0f : 0.0f);
    dx[row * margin.labels.classes + column] = margin.Sign(row, column) * slope * scale();
  }
};

/// loss = sum_i sum_c m_ic / N (norm: L1) or sum_i sum_c m_ic^2 / N (L2), where the margin m_ic is
/// max(0, 1 - x_ic) for the label's class and max(0, 1 + x_ic) for the others.
///
/// Scores N x C (all axes after the first count as one), N labels in [0, C). Throws Error for a
/// label that is no class. Follows Caffe's HingeLoss.
class HingeLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    items_ = bottoms[0]->shape().LegacyDim(0);
    classes_ = bottoms[0]->shape().Count(1);
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], items_);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const ClassLabels labels = labels_.Check(context, *bottoms[1], classes_);
    float* rows = context.Scratch(items_);
    ReduceRows<SumOfDoubles>(context, items_, classes_,
                             LoadMargin{MarginOf(context, labels, bottoms)}, StoreRow{rows});
    WriteLoss<SumOfDoubles>(context, items_, LoadRow{rows},
                            LossNormalizer(static_cast<double>(items_)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const ClassLabels labels = labels_.Known(context, *bottoms[1], classes_);
    const Margin margin = MarginOf(context, labels, bottoms);
    ForEach2D(context, items_, classes_,
              HingeGradient{margin, Scale(context, tops), bottoms[0]->diff().Write(context)});
  }

 private:
  Margin MarginOf(Context& context, const ClassLabels& labels, const BlobVector& bottoms) const {
    return {labels, bottoms[0]->data().Read(context),
            param().hinge_loss_param().norm() == HingeLossParameter::L2};
  }

  LabelReader labels_{kClassLabels};
  int64_t items_ = 0;
  int64_t classes_ = 0;
};

const RegisterLayer<HingeLossLayer> kRegistration(
    LayerInfo("HingeLoss")
        .Summary("one-against-all margins of at least 1")
        .Field("hinge_loss_param")
        .Bottoms(2, "scores, N x C, and N labels")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
