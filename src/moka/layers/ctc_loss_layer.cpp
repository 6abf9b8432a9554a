#include <glog/logging.h>

#include <algorithm>
#include <vector>

#include "moka/layers/ctc.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct LoadLoss {
  const float* losses;
  MOKA_HD double operator()(int64_t, int64_t n) const { return losses[n]; }
};

/// The mean over N sequences of -log p(label sequence | scores), connectionist temporal
/// classification: see ctc.hpp. The scores are any numbers; their softmax is part of the loss.
///
/// Bottoms, as two families of forks have them:
///   scores (T x N x C), labels (N x L): all of T, or the first time_step, are used; the blank is
///     class blank_label. As CtcLoss of CRNN forks with warp-ctc.
///   scores (T x N x C), sequence indicators (T x N), labels (L x N): a sequence has a first step
///     and goes on while its indicator is 1; the blank is the last class, or blank_index. As
///     CTCLoss of forks with recurrent layers.
/// Labels that are negative or the blank are padding. A sequence whose label cannot be read in its
/// number of steps has loss 0 and no gradient; the first one is warned about.
///
/// Throws Error for other shapes and for a label that is not a class, naming the sequence.
/// Graves et al. (ICML 2006).
class CtcLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const Shape& scores = bottoms[0]->shape();
    Require(scores.axes() == 3, "the scores \"", bottoms[0]->name(), "\" are ", scores,
            ", but must be steps x sequences x classes");
    targets_.steps = scores[0];
    targets_.sequences = scores[1];
    targets_.classes = scores[2];
    has_indicators_ = bottoms.size() == 3;
    CheckFields();
    CheckBottoms(bottoms);
    targets_.path_size = 2 * label_size_ + 1;
    for (Tensor* per_sequence : {&path_lengths_, &lengths_, &losses_}) {
      per_sequence->Resize({targets_.sequences});
    }
    paths_.Resize({targets_.sequences, targets_.path_size});
    log_p_.Resize(scores);
    alpha_.Resize({targets_.steps, targets_.sequences, targets_.path_size});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    ReadTargets(bottoms);
    const float* scores = bottoms[0]->data().Read(context);
    float* losses = losses_.Write(context);
    CtcForward(context, Targets(context), scores, log_p_.Write(context), alpha_.Write(context),
               losses);
    WriteLoss<SumOfDoubles>(context, targets_.sequences, LoadLoss{losses},
                            LossNormalizer(static_cast<double>(targets_.sequences)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const LossScale scale = Scale(context, tops);
    CtcBackward(context, Targets(context), log_p_.Read(context), alpha_.Read(context),
                losses_.Read(context), scale.weight, scale.inverse, context.Scratch(alpha_.count()),
                bottoms[0]->diff().Write(context));
  }

 private:
  void CheckFields() {
    const CTCLossParameter& fields = param().ctc_loss_param();
    const int64_t classes = targets_.classes, steps = targets_.steps;
    if (fields.alphabet_size() > 0 && fields.alphabet_size() != classes) {
      FailAt(param(), "ctc_loss_param.alphabet_size", "alphabet_size is ", fields.alphabet_size(),
             ", but there are scores for ", classes, " classes");
    }
    if (fields.time_step() > steps) {
      FailAt(param(), "ctc_loss_param.time_step", "time_step is ", fields.time_step(),
             ", but the scores have ", steps, " steps");
    }
    const bool by_index = has_indicators_ || fields.has_blank_index();
    const int64_t blank = by_index ? fields.blank_index() : fields.blank_label();
    blank_ = by_index && blank < 0 ? blank + classes : blank;
    if (blank_ < 0 || blank_ >= classes) {
      FailAt(param(), by_index ? "ctc_loss_param.blank_index" : "ctc_loss_param.blank_label",
             "the blank is class ", blank, ", but there are ", classes, " classes");
    }
  }

  void CheckBottoms(const BlobVector& bottoms) {
    const Blob& labels = *bottoms.back();
    const int64_t steps = targets_.steps, sequences = targets_.sequences;
    const int sequence_axis = has_indicators_ ? 1 : 0;
    Require(labels.shape().axes() == 2 && labels.shape()[sequence_axis] == sequences,
            "the labels \"", labels.name(), "\" are ", labels.shape(), ", but must be ",
            has_indicators_ ? "label length x sequences" : "sequences x label length", " for ",
            sequences, " sequences");
    label_size_ = labels.shape()[1 - sequence_axis];
    if (!has_indicators_) return;
    Require(bottoms[1]->shape() == Shape({steps, sequences}), "the sequence indicators \"",
            bottoms[1]->name(), "\" are ", bottoms[1]->shape(), ", but must be steps x sequences, ",
            steps, " x ", sequences);
  }

  /// The label of sequence n, without padding.
  std::vector<float> LabelOf(int64_t n, const Blob& labels) const {
    const float* values = labels.data().Read();
    std::vector<float> label;
    for (int64_t i = 0; i < label_size_; ++i) {
      const float value =
          values[has_indicators_ ? i * targets_.sequences + n : n * label_size_ + i];
      if (value <= -1) continue;
      Require(value < static_cast<float>(targets_.classes), "label ", value, " of sequence ", n,
              ", position ", i, " in bottom \"", labels.name(), "\" is not one of the ",
              targets_.classes, " classes of the scores");
      const auto whole = static_cast<int64_t>(value);
      if (whole != blank_) label.push_back(static_cast<float>(whole));
    }
    return label;
  }

  int64_t LengthOf(int64_t n, const BlobVector& bottoms) const {
    if (!has_indicators_) {
      const int64_t given = param().ctc_loss_param().time_step();
      return given > 0 ? given : targets_.steps;
    }
    const float* goes_on = bottoms[1]->data().Read();
    int64_t length = 1;
    while (length < targets_.steps && goes_on[length * targets_.sequences + n] != 0) ++length;
    return length;
  }

  /// A repeated class needs a blank between.
  static int64_t StepsNeeded(const std::vector<float>& label) {
    int64_t needed = static_cast<int64_t>(label.size());
    for (size_t i = 1; i < label.size(); ++i) needed += label[i] == label[i - 1];
    return needed;
  }

  // On the host: labels are few, and errors have to name them.
  void ReadTargets(const BlobVector& bottoms) {
    float *paths = paths_.Write(), *path_lengths = path_lengths_.Write();
    float* lengths = lengths_.Write();
    std::fill_n(paths, paths_.count(), static_cast<float>(blank_));
    for (int64_t n = 0; n < targets_.sequences; ++n) {
      const std::vector<float> label = LabelOf(n, *bottoms.back());
      const int64_t length = LengthOf(n, bottoms);
      const bool fits = StepsNeeded(label) <= length;
      if (!fits) WarnOnce(n, label, length);
      lengths[n] = static_cast<float>(length);
      path_lengths[n] = fits ? static_cast<float>(2 * label.size() + 1) : 0.0f;
      for (size_t i = 0; i < label.size(); ++i)
        paths[n * targets_.path_size + 2 * i + 1] = label[i];
    }
  }

  void WarnOnce(int64_t n, const std::vector<float>& label, int64_t length) {
    if (warned_) return;
    warned_ = true;
    LOG(WARNING) << LayerPlace(param()) << ": the label of sequence " << n << " has "
                 << label.size() << " classes and needs " << StepsNeeded(label)
                 << " steps, but there are " << length
                 << "; such sequences count with loss 0 (said once)";
  }

  CtcTargets Targets(Context& context) const {
    CtcTargets targets = targets_;
    targets.paths = paths_.Read(context);
    targets.path_lengths = path_lengths_.Read(context);
    targets.lengths = lengths_.Read(context);
    return targets;
  }

  CtcTargets targets_;  // the sizes
  bool has_indicators_ = false;
  bool warned_ = false;
  int64_t blank_ = 0;
  int64_t label_size_ = 0;
  Tensor paths_, path_lengths_, lengths_;  // see CtcTargets
  Tensor log_p_, alpha_, losses_;
};

LayerInfo InfoOf(const std::string& type) {
  return LayerInfo(type)
      .Summary("-log p(label sequence) where labels are not aligned with steps")
      .Field("ctc_loss_param")
      .Bottoms(2, 3,
               "scores T x N x C, and labels N x L, or sequence indicators T x N and labels L x N")
      .Tops(1, "the loss")
      .MakesMissingTops();
}

const RegisterLayer<CtcLossLayer> kRegistration(InfoOf("CTCLoss"));
const RegisterLayer<CtcLossLayer> kOtherName(InfoOf("CtcLoss"));

}  // namespace
}  // namespace moka
