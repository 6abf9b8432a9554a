#include <algorithm>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/position_loss.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/softmax.hpp"
#include "moka/proto/blob_io.hpp"

namespace moka {
namespace {

constexpr float kLeastProbability = 1e-20f;

struct InfogainAt {
  ClassLabels labels;
  AxisView view;
  const float* gain;
  const float* p;
  float* loss;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t position = outer * view.inner + inner;
    loss[position] = 0;
    if (labels.Ignored(position)) return;
    const float* row = gain + labels[position] * view.axis;
    const float* column = p + outer * view.axis * view.inner + inner;
    float sum = 0;
    for (int64_t a = 0; a < view.axis; ++a) {
      sum -= row[a] * logf(fmaxf(column[a * view.inner], kLeastProbability));
    }
    loss[position] = sum;
  }
};

struct InfogainGradient {
  ClassLabels labels;
  AxisView view;
  const float* gain;
  const float* p;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const int64_t position = outer * view.inner + inner;
    const int64_t begin = outer * view.axis * view.inner + inner;
    if (labels.Ignored(position)) {
      for (int64_t a = 0; a < view.axis; ++a) dx[begin + a * view.inner] = 0;
      return;
    }
    const float* row = gain + labels[position] * view.axis;
    float sum = 0;
    for (int64_t a = 0; a < view.axis; ++a) sum += row[a];
    for (int64_t a = 0; a < view.axis; ++a) {
      const int64_t i = begin + a * view.inner;
      dx[i] = scale() * (p[i] * sum - row[a]);
    }
  }
};

/// loss = -sum over positions of sum_k H_label,k log(max(p_k, 1e-20)) / normalizer, where p is the
/// softmax of the scores along infogain_loss_param.axis; see LossNormalizer for loss_param.
/// Positions whose label is ignore_label have neither loss nor gradient. With H the identity it is
/// SoftmaxWithLoss.
///
/// Scores N x C x ..., labels of any shape with one label a position, in [0, C), and H, C x C, as
/// third bottom or in the file infogain_loss_param.source (a binary BlobProto). Only the scores
/// have a derivative. The second top, if there is one, is p; no gradient enters through it. Throws
/// Error for a label that is no class. Follows Caffe's InfogainLoss.
class InfogainLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const LossParameter& loss = param().loss_param();
    if (loss.has_ignore_label()) labels_.Ignore(loss.ignore_label());
    if (bottoms.size() > 2) return;
    const std::string& source = param().infogain_loss_param().source();
    Require(!source.empty(), "needs the infogain matrix: as third bottom, or in the file ",
            "infogain_loss_param.source");
    ReadGain(source);
  }

  bool AssumeShapes(const BlobVector& tops) override {
    tops[0]->Resize(Shape());
    return tops.size() == 1;
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    view_ = AxisView::Of(bottoms[0]->shape(), param().infogain_loss_param().axis());
    const int64_t positions = view_.outer * view_.inner;
    RequireOneLabelAPosition(*bottoms[0], *bottoms[1], positions);
    const Shape& gain = bottoms.size() > 2 ? bottoms[2]->shape() : gain_.shape();
    Require(gain.Count() == view_.axis * view_.axis, "the infogain matrix is ", gain, ", but for ",
            view_.axis, " classes it must be ", view_.axis, " x ", view_.axis);
    normalizer_ =
        LossNormalizer(param().loss_param(), LossParameter::VALID, positions, view_.outer);
    p_.Resize(bottoms[0]->shape());
    if (tops.size() > 1) tops[1]->Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const ClassLabels labels = labels_.Check(context, *bottoms[1], view_.axis);
    const float* scores = bottoms[0]->data().Read(context);
    float* p = p_.Write(context);
    SoftmaxForward(context, view_, scores, p);
    float* loss = context.Scratch(bottoms[1]->count());
    ForEach2D(context, view_.outer, view_.inner,
              InfogainAt{labels, view_, Gain(context, bottoms), p, loss}, 8 * view_.axis);
    WriteLoss<SumOfValid>(context, bottoms[1]->count(), LoadPositionLoss{labels, loss}, normalizer_,
                          tops);
    if (tops.size() > 1) Copy(context, p_.count(), p, tops[1]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const ClassLabels labels = labels_.Known(context, *bottoms[1], view_.axis);
    ForEach2D(context, view_.outer, view_.inner,
              InfogainGradient{labels, view_, Gain(context, bottoms), p_.Read(context),
                               Scale(context, tops), bottoms[0]->diff().Write(context)},
              4 * view_.axis);
  }

 private:
  void ReadGain(const std::string& file) {
    BlobProto blob;
    Require(blob.ParseFromString(ReadFile(file)), file,
            ": is no infogain matrix (a binary BlobProto)");
    try {
      const FloatArray stored = FromBlobProto(blob);
      gain_.Resize(Shape(stored.shape));
      std::copy(stored.data.begin(), stored.data.end(), gain_.Write());
    } catch (Error& error) {
      error.In(file);
      throw;
    }
  }

  const float* Gain(Context& context, const BlobVector& bottoms) const {
    return bottoms.size() > 2 ? bottoms[2]->data().Read(context) : gain_.Read(context);
  }

  LabelReader labels_{kClassLabels};
  AxisView view_;
  LossNormalizer normalizer_;
  Tensor gain_;
  Tensor p_;
};

const RegisterLayer<InfogainLossLayer> kRegistration(
    LayerInfo("InfogainLoss")
        .Summary("log-likelihoods weighed by a matrix of what each answer is worth")
        .Field("infogain_loss_param")
        .Bottoms(2, 3, "scores, N x C x ..., labels, one a position, and the matrix, C x C")
        .Tops(1, 2, "the loss, and the probabilities if wanted")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
