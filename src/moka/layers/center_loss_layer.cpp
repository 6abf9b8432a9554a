#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Features beside the centres of their classes.
struct FeaturesAndCentres {
  ClassLabels labels;
  int64_t columns;
  const float* features;
  const float* centres;
  MOKA_HD float Distance(int64_t row, int64_t column) const {
    return features[row * columns + column] - centres[labels[row] * columns + column];
  }
};

struct SquaredDistanceAt {
  FeaturesAndCentres pairs;
  MOKA_HD double operator()(int64_t, int64_t i) const {
    const int64_t row = i / pairs.columns;
    const float distance = pairs.Distance(row, i - row * pairs.columns);
    return distance * distance;
  }
};

struct FeatureGradient {
  FeaturesAndCentres pairs;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    // The loss is halved, its derivative is not.
    dx[row * pairs.columns + column] = 2 * scale() * pairs.Distance(row, column);
  }
};

/// Links the samples of a class: the next of them, or -1; and whether a sample is the first.
struct LinkSamples {
  ClassLabels labels;
  int64_t samples;
  float* next;
  float* first;
  MOKA_HD void operator()(int64_t row) const {
    const int64_t label = labels[row];
    int64_t other = row + 1;
    while (other < samples && labels[other] != label) ++other;
    next[row] = other < samples ? static_cast<float>(other) : -1.0f;
    for (other = 0; labels[other] != label;) ++other;
    first[row] = other == row ? 1.0f : 0.0f;
  }
};

/// Moves a class's centre for all its samples. The class's first sample does it, so that no two
/// threads write the same centre.
struct CentreGradient {
  FeaturesAndCentres pairs;
  const float* next;
  const float* first;
  float* gradient;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    if (first[row] == 0) return;
    float sum = 0, count = 0;
    for (int64_t n = row; n >= 0; n = static_cast<int64_t>(next[n])) {
      sum -= pairs.Distance(n, column);
      count += 1;
    }
    gradient[pairs.labels[row] * pairs.columns + column] += sum / (1 + count);
  }
};

/// loss = sum_n ||x_n - c_label||^2 / (2 M), over the M samples: everything before
/// center_loss_param.axis counts samples, the rest is the feature vector. The gradient of x_n is
/// (x_n - c_label) / M.
///
/// Param 0: the centres, num_output x length of a feature vector. They are learned by a rule of
/// their own that neither M nor the loss weight scales: the gradient of c_j is
/// sum_{n of class j} (c_j - x_n) / (1 + number of samples of class j); its `lr_mult` is the
/// paper's alpha over the learning rate.
///
/// Labels of any shape, one a sample, in [0, num_output); Error for others. Wen, Zhang, Li and
/// Qiao, "A Discriminative Feature Learning Approach for Deep Face Recognition" (ECCV 2016).
class CenterLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const CenterLossParameter& center = param().center_loss_param();
    Require(center.num_output() > 0, "needs center_loss_param.num_output, the number of classes");
    classes_ = center.num_output();
    const Shape& shape = bottoms[0]->shape();
    AddParam(Shape{classes_, shape.Count(shape.Axis(center.axis()))}, center.center_filler());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const Shape& shape = bottoms[0]->shape();
    const int axis = shape.Axis(param().center_loss_param().axis());
    samples_ = shape.Count(0, axis);
    columns_ = shape.Count(axis);
    const Shape& centres = param_blob(0).shape();
    Require(columns_ == centres.Count() / classes_, "bottom \"", bottoms[0]->name(), "\" has ",
            columns_, " features a sample, but the centres are ", centres);
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], samples_);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const ClassLabels labels = labels_.Check(context, *bottoms[1], classes_);
    WriteLoss<SumOfDoubles>(context, bottoms[0]->count(),
                            SquaredDistanceAt{Pairs(context, bottoms, labels)},
                            LossNormalizer(2.0 * static_cast<double>(samples_)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const FeaturesAndCentres pairs =
        Pairs(context, bottoms, labels_.Known(context, *bottoms[1], classes_));
    if (param_propagate(0)) {
      float beta;
      float* gradient = param_blob(0).diff().Accumulate(context, &beta);
      if (beta == 0) Fill(context, param_blob(0).count(), 0, gradient);
      float* next = context.Scratch(2 * samples_);
      float* first = next + samples_;
      ForEach(context, samples_, LinkSamples{pairs.labels, samples_, next, first});
      ForEach2D(context, samples_, columns_, CentreGradient{pairs, next, first, gradient});
    }
    if (!propagate[0]) return;
    ForEach2D(context, samples_, columns_,
              FeatureGradient{pairs, Scale(context, tops), bottoms[0]->diff().Write(context)});
  }

 private:
  FeaturesAndCentres Pairs(Context& context, const BlobVector& bottoms, const ClassLabels& labels) {
    return {labels, columns_, bottoms[0]->data().Read(context), param_blob(0).data().Read(context)};
  }

  LabelReader labels_{kClassLabels};
  int64_t classes_ = 0;
  int64_t samples_ = 0;
  int64_t columns_ = 0;
};

const RegisterLayer<CenterLossLayer> kRegistration(
    LayerInfo("CenterLoss")
        .Summary("draws features to learned centres of their classes")
        .Field("center_loss_param")
        .Bottoms(2, "features, N x C, and labels, one a sample")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
