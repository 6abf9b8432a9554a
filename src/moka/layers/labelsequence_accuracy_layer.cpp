#include "moka/base/error.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Whether the best path of a sequence, without repeats and blanks, is its label without padding.
struct IsRead {
  int64_t steps;
  int64_t classes;
  int64_t label_size;
  int64_t blank;
  const float* scores;
  const float* labels;

  MOKA_HD int64_t Best(const float* row) const {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; ++c) {
      if (row[c] > row[best]) best = c;
    }
    return best;
  }

  /// The first position from `i` on that is no padding.
  MOKA_HD int64_t Next(const float* label, int64_t i) const {
    while (i < label_size && (label[i] < 0 || static_cast<int64_t>(label[i]) == blank)) ++i;
    return i;
  }

  MOKA_HD float operator()(int64_t, int64_t n) const {
    const float* label = labels + n * label_size;
    int64_t position = Next(label, 0), before = blank;
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t best = Best(scores + (n * steps + t) * classes);
      if (best != before && best != blank) {
        if (position == label_size || static_cast<int64_t>(label[position]) != best) return 0;
        position = Next(label, position + 1);
      }
      before = best;
    }
    return position == label_size ? 1.0f : 0.0f;
  }
};

/// The share of sequences that are read right: the class with the largest score at each step (the
/// first of equals), taken once where it repeats, and blanks left out, gives the label sequence.
///
/// Bottoms: scores (N x T x C; note that CTCLoss has T x N x C), labels (N x L), where negative
/// numbers and the blank are padding. Top: one number. No derivative. Follows the layer of that
/// name in CRNN forks of Caffe.
class LabelsequenceAccuracyLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape &scores = bottoms[0]->shape(), &labels = bottoms[1]->shape();
    Require(scores.axes() == 3, "the scores \"", bottoms[0]->name(), "\" are ", scores,
            ", but must be sequences x steps x classes");
    Require(labels.axes() == 2 && labels[0] == scores[0], "the labels \"", bottoms[1]->name(),
            "\" are ", labels, ", but must be sequences x label length for ", scores[0],
            " sequences");
    tops[0]->Resize(Shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& shape = bottoms[0]->shape();
    const float* scores = bottoms[0]->data().Read(context);
    const float* labels = bottoms[1]->data().Read(context);
    const int64_t blank = param().labelsequence_accuracy_param().blank_label();
    ReduceRows<SumOf>(
        context, 1, shape[0],
        IsRead{shape[1], shape[2], bottoms[1]->shape()[1], blank, scores, labels},
        StoreScaled{tops[0]->data().Write(context), 1.0f / static_cast<float>(shape[0]), 0});
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return bottoms[0]->count();
  }
};

const RegisterLayer<LabelsequenceAccuracyLayer> kRegistration(
    LayerInfo("LabelsequenceAccuracy")
        .Summary("the share of label sequences that the best path gives")
        .Field("labelsequence_accuracy_param")
        .Bottoms(2, "scores N x T x C, labels N x L")
        .Tops(1, "the share"));

}  // namespace
}  // namespace moka
