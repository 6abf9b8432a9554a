#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/vector_math.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/multibox_targets.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct LoadExpBelow {
  const float* x;
  const float* largest;
  int64_t classes;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    return VectorExp(x[row * classes + column] - largest[row]);
  }
};

/// log(sum exp(x)), from the sum relative to the largest x.
struct StoreLogSum {
  const float* largest;
  float* log_sum;
  MOKA_HD void operator()(int64_t row, float sum) const { log_sum[row] = largest[row] + logf(sum); }
};

struct SoftmaxCost {
  const float* x;
  const float* log_sum;
  const float* labels;
  int64_t classes;
  float* cost;
  MOKA_HD void operator()(int64_t row) const {
    constexpr float kMost = 87.3365448f;  // -log(FLT_MIN), as in SoftmaxWithLoss
    const auto label = static_cast<int64_t>(labels[row]);
    const float value = label < 0 ? 0.0f : log_sum[row] - x[row * classes + label];
    cost[row] = value > kMost ? kMost : value;
  }
};

struct LoadLogisticCost {
  const float* x;
  const float* labels;
  int64_t classes;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const float value = x[row * classes + column];
    const float target = labels[row] == static_cast<float>(column) ? 1.0f : 0.0f;
    return fmaxf(value, 0.0f) - value * target + log1pf(expf(-fabsf(value)));
  }
};

struct ConfidenceGradient {
  LossScale scale;
  const float* x;
  const float* log_sum;  // null for LOGISTIC
  const float* labels;
  int64_t classes;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * classes + column;
    const float label = labels[row];
    const float p = log_sum != nullptr ? VectorExp(x[i] - log_sum[row]) : VectorSigmoid(x[i]);
    const float target = label == static_cast<float>(column) ? 1.0f : 0.0f;
    dx[i] = label < 0 ? 0.0f : scale() * (p - target);
  }
};

/// The predicted coordinates that count, one after the other.
struct Coordinates {
  const float* x;
  const int32_t* rows;  // of x, four coordinates in each
  const float* targets;
  const float* weights;
  MOKA_HD int64_t Place(int64_t i) const {
    return static_cast<int64_t>(rows[i >> 2]) * 4 + (i & 3);
  }
  MOKA_HD float Difference(int64_t i) const { return weights[i] * (x[Place(i)] - targets[i]); }
};

/// All terms of the loss in a row: those of coordinates, then those of priors' confidences.
struct LoadCost {
  Coordinates coordinates;
  int64_t count;  // of coordinates
  LocationLoss loss;
  float loc_weight;
  const float* labels;
  const float* costs;
  MOKA_HD double operator()(int64_t, int64_t i) const {
    if (i < count) return loc_weight * loss.Value(coordinates.Difference(i));
    return labels[i - count] < 0 ? 0.0f : costs[i - count];
  }
};

struct CoordinateGradient {
  Coordinates coordinates;
  LocationLoss loss;
  LossScale scale;
  float loc_weight;
  float* dx;
  MOKA_HD void operator()(int64_t i) const {
    dx[coordinates.Place(i)] =
        scale() * loc_weight * coordinates.weights[i] * loss.Slope(coordinates.Difference(i));
  }
};

/// loss = (loc_weight * sum of location losses over matched priors + sum of confidence losses over
/// matched priors and mined negatives) / normaliser. Priors are matched with true boxes
/// (MatchBoxes), negatives mined by their confidence loss (MineExamples); the target of a matched
/// prior's location is its true box relative to it (BoxCode), that of its confidences the true
/// box's class, and the background's for others. The normaliser is that of loss_param with matched
/// priors for VALID, the default; see LossNormalizer. A `propagate_down` that is false leaves out
/// the term of its bottom; as in SSD, nets that learn need `propagate_down: [true, true, false,
/// false]`, since boxes have no derivative.
///
/// Bottoms: offsets, N x (P * L * 4), L the number of classes or 1 with share_location;
/// confidences, N x (P * classes), before softmax or sigmoid; priors, 1 x 2 x 4P; true boxes, rows
/// (item, label, instance, xmin, ymin, xmax, ymax, difficult). The first two have a derivative;
/// matching and mining count as constant. Throws Error for sizes that do not fit, labels that are
/// no classes, and mining without share_location. Liu et al., SSD (ECCV 2016), and the layer in its
/// Caffe.
class MultiBoxLossLayer : public LossLayer {
 public:
  explicit MultiBoxLossLayer(const LayerParameter& layer)
      : LossLayer(layer),
        targets_(layer.multibox_loss_param()),
        loss_{layer.multibox_loss_param().loc_loss_type() == MultiBoxLossParameter::SMOOTH_L1} {}

  bool Differentiable(int bottom) const override { return bottom < 2; }

  void SetUp(const BlobVector&, const BlobVector&) override {
    if (multibox().num_classes() < 1) FailAt(param(), "multibox_loss_param", "needs num_classes");
    CheckMining();
    if (!multibox().map_object_to_agnostic()) return;
    const uint32_t needed = multibox().background_label_id() + 2;
    if (multibox().num_classes() != needed) {
      FailAt(param(), "multibox_loss_param.map_object_to_agnostic", "map_object_to_agnostic needs ",
             needed, " classes, the background and the objects, but num_classes is ", classes());
    }
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    Require(bottoms[0]->shape().axes() > 0, "needs offsets of items, N x ...");
    items_ = bottoms[0]->shape()[0];
    priors_ = CountPriors(*bottoms[2]);
    RequireAPrior(*bottoms[0], multibox().share_location() ? 4 : 4 * classes());
    RequireAPrior(*bottoms[1], classes());
    RequireRowsOf(*bottoms[3], 8, "true boxes");
    for (Tensor* tensor : {&labels_, &costs_, &log_sum_}) tensor->Resize({items_ * priors_});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* offsets = targets_.NeedsOffsets() ? bottoms[0]->data().Read() : nullptr;
    targets_.Match(ReadPriors(*bottoms[2]), TrueBoxes(*bottoms[3]), items_, offsets);
    WriteLabels();
    WriteCosts(context, bottoms[1]->data().Read(context));
    if (targets_.Mines()) {
      targets_.Mine(costs_.Read());
      WriteLabels();
    }
    WriteLocations();
    const LossNormalizer by_field(param().loss_param(), LossParameter::VALID, items_ * priors_,
                                  items_);
    const LossNormalizer normalizer(by_field.Divisor(static_cast<double>(targets_.CountMatches())));
    const Coordinates coordinates = CoordinatesOf(context, *bottoms[0]);
    const int64_t count = Counts(1) ? items_ * priors_ : 0;
    WriteLoss<SumOfDoubles>(
        context, targets_of_rows_.count() + count,
        LoadCost{coordinates, targets_of_rows_.count(), loss_, multibox().loc_weight(),
                 labels_.Read(context), costs_.Read(context)},
        normalizer, tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const LossScale scale = Scale(context, tops);
    if (propagate[0]) {
      const Coordinates coordinates = CoordinatesOf(context, *bottoms[0]);
      float* dx = bottoms[0]->diff().Write(context);
      Fill(context, bottoms[0]->count(), 0, dx);
      ForEach(context, targets_of_rows_.count(),
              CoordinateGradient{coordinates, loss_, scale, multibox().loc_weight(), dx});
    }
    if (!propagate[1]) return;
    if (!Counts(1)) return bottoms[1]->diff().SetZero();
    const float* x = bottoms[1]->data().Read(context);
    const float* log_sum = IsSoftmax() ? log_sum_.Read(context) : nullptr;
    const float* labels = labels_.Read(context);
    ForEach2D(
        context, items_ * priors_, classes(),
        ConfidenceGradient{scale, x, log_sum, labels, classes(), bottoms[1]->diff().Write(context)},
        8);
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return 8 * bottoms[1]->count();
  }

 private:
  const MultiBoxLossParameter& multibox() const { return param().multibox_loss_param(); }
  int64_t classes() const { return multibox().num_classes(); }
  bool IsSoftmax() const { return multibox().conf_loss_type() == MultiBoxLossParameter::SOFTMAX; }

  /// Whether the term of a bottom is part of the loss.
  bool Counts(int bottom) const {
    return param().propagate_down_size() <= bottom || param().propagate_down(bottom);
  }

  void CheckMining() const {
    const auto mining = multibox().mining_type();
    if (multibox().has_do_neg_mining() && multibox().has_mining_type() &&
        multibox().do_neg_mining() != (mining != MultiBoxLossParameter::NONE)) {
      FailAt(param(), "multibox_loss_param.do_neg_mining",
             "do_neg_mining contradicts mining_type: leave it out");
    }
    if (!targets_.Mines()) return;
    if (!multibox().share_location()) {
      FailAt(param(), "multibox_loss_param.share_location",
             "examples are mined only with share_location: set mining_type to NONE without it");
    }
    if (mining == MultiBoxLossParameter::MAX_NEGATIVE && !(multibox().neg_pos_ratio() > 0)) {
      FailAt(param(), "multibox_loss_param.neg_pos_ratio", "neg_pos_ratio is ",
             multibox().neg_pos_ratio(), ", and must be positive");
    }
    if (mining == MultiBoxLossParameter::HARD_EXAMPLE && multibox().sample_size() <= 0) {
      FailAt(param(), "multibox_loss_param.sample_size", "sample_size is ",
             multibox().sample_size(), ", and must be positive");
    }
  }

  void RequireAPrior(const Blob& blob, int64_t each) const {
    Require(blob.count() == items_ * priors_ * each, "bottom \"", blob.name(), "\" has shape ",
            blob.shape(), ", but ", items_, " items with ", priors_, " priors and num_classes ",
            classes(), " need ", items_ * priors_ * each, " values");
  }

  std::map<int64_t, Objects> TrueBoxes(const Blob& blob) const {
    auto truths = ReadTrueBoxes(blob, static_cast<int>(multibox().background_label_id()));
    if (multibox().use_difficult_gt()) return truths;
    for (auto& [item, of_item] : truths) {
      const auto difficult = [](const Object& truth) { return truth.difficult; };
      of_item.erase(std::remove_if(of_item.begin(), of_item.end(), difficult), of_item.end());
    }
    return truths;
  }

  void WriteLabels() {
    std::copy(targets_.labels().begin(), targets_.labels().end(), labels_.Write());
  }

  /// What the confidences of each prior cost.
  void WriteCosts(Context& context, const float* x) {
    const int64_t rows = items_ * priors_;
    const float* labels = labels_.Read(context);
    float* costs = costs_.Write(context);
    if (!IsSoftmax()) {
      ReduceRows<SumOf>(context, rows, classes(), LoadLogisticCost{x, labels, classes()},
                        StoreScaled{costs, 1, 0});
      return;
    }
    float* log_sum = log_sum_.Write(context);
    ReduceRows<MaxOf>(context, rows, classes(), LoadRowMajor{x, classes()},
                      StoreScaled{costs, 1, 0});
    ReduceRows<SumOf>(context, rows, classes(), LoadExpBelow{x, costs, classes()},
                      StoreLogSum{costs, log_sum});
    ForEach(context, rows, SoftmaxCost{x, log_sum, labels, classes(), costs});
  }

  void WriteLocations() {
    const std::vector<LocationTarget> targets =
        Counts(0) ? targets_.Locations() : std::vector<LocationTarget>();
    const auto count = static_cast<int64_t>(targets.size());
    rows_.Resize({count});
    targets_of_rows_.Resize({count, 4});
    weights_.Resize({count, 4});
    auto* rows = reinterpret_cast<int32_t*>(rows_.Write());
    float* offsets = targets_of_rows_.Write();
    float* weights = weights_.Write();
    for (const LocationTarget& target : targets) {
      *rows++ = static_cast<int32_t>(target.row);
      offsets = std::copy(target.offsets.begin(), target.offsets.end(), offsets);
      weights = std::copy(target.weight.begin(), target.weight.end(), weights);
    }
  }

  Coordinates CoordinatesOf(Context& context, const Blob& offsets) const {
    return {offsets.data().Read(context), reinterpret_cast<const int32_t*>(rows_.Read(context)),
            targets_of_rows_.Read(context), weights_.Read(context)};
  }

  MultiBoxTargets targets_;
  LocationLoss loss_;
  int64_t items_ = 0, priors_ = 0;
  // One value for each prior of each item.
  Tensor labels_, costs_, log_sum_;
  // One row for each matched prior.
  Tensor rows_;  // 32-bit whole numbers in the memory of floats
  Tensor targets_of_rows_, weights_;
};

const RegisterLayer<MultiBoxLossLayer> kRegistration(
    LayerInfo("MultiBoxLoss")
        .Summary("matches priors with true boxes; loss of their locations and classes")
        .Field("multibox_loss_param")
        .Bottoms(4, "offsets, N x 4PL, confidences, N x PC, priors, 1 x 2 x 4P, and true boxes")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
