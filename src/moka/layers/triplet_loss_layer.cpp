#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// Where anchors, positives and negatives lie: in arrays of their own, or in sets of one array, an
/// anchor, a positive and the negatives.
struct TripletRows {
  int64_t negatives = 1;  // of each anchor
  int64_t stride = 1;     // rows from one anchor to the next
  int64_t columns = 1;
  MOKA_HD int64_t Row(int64_t triplet) const { return triplet / negatives * stride; }
  MOKA_HD int64_t NegativeRow(int64_t triplet) const { return Row(triplet) + triplet % negatives; }
};

struct SquaredRowDistance {
  const float* a;
  const float* b;
  TripletRows rows;
  bool negative;
  MOKA_HD float operator()(int64_t triplet, int64_t column) const {
    const int64_t of_b = negative ? rows.NegativeRow(triplet) : rows.Row(triplet);
    const float difference =
        a[rows.Row(triplet) * rows.columns + column] - b[of_b * rows.columns + column];
    return difference * difference;
  }
};

/// What a triplet costs, from the squared distances of its anchor.
struct TripletCost {
  const float* to_positive;
  const float* to_negative;
  const float* weight;  // null for 1 each
  float margin;
  bool relative;
  bool with_pairs;  // a set's first triplet costs the distance to its positive as well
  int64_t negatives;
  MOKA_HD float Weight(int64_t i) const { return weight == nullptr ? 1.0f : weight[i]; }
  MOKA_HD bool HasPair(int64_t i) const { return with_pairs && i % negatives == 0; }
  MOKA_HD float Missing(int64_t i) const {
    const float p = to_positive[i], n = to_negative[i];
    return relative ? 1 - n / (p + margin) : p - n + margin;
  }
  MOKA_HD double operator()(int64_t, int64_t i) const {
    return Weight(i) * fmaxf(0.0f, Missing(i)) + (HasPair(i) ? to_positive[i] : 0.0f);
  }
  /// The slopes in the squared distances.
  MOKA_HD float SlopeOfPositive(int64_t i) const {
    const float below = to_positive[i] + margin;
    const float slope = relative ? to_negative[i] / (below * below) : 1.0f;
    return (Missing(i) > 0 ? Weight(i) * slope : 0.0f) + (HasPair(i) ? 1.0f : 0.0f);
  }
  MOKA_HD float SlopeOfNegative(int64_t i) const {
    if (!(Missing(i) > 0)) return 0;
    return relative ? -Weight(i) / (to_positive[i] + margin) : -Weight(i);
  }
};

struct TripletGradient {
  TripletCost cost;
  TripletRows rows;
  const float* anchor;
  const float* positive;
  const float* negative;
  LossScale scale;
  MOKA_HD float ToPositive(int64_t triplet, int64_t column) const {
    const int64_t i = rows.Row(triplet) * rows.columns + column;
    return 2 * scale() * cost.SlopeOfPositive(triplet) * (anchor[i] - positive[i]);
  }
  MOKA_HD float ToNegative(int64_t triplet, int64_t column) const {
    const int64_t i = rows.Row(triplet) * rows.columns + column;
    const int64_t j = rows.NegativeRow(triplet) * rows.columns + column;
    return 2 * scale() * cost.SlopeOfNegative(triplet) * (anchor[i] - negative[j]);
  }
};

struct AnchorGradient {
  TripletGradient of;
  float* dx;
  MOKA_HD void operator()(int64_t anchor, int64_t column) const {
    float sum = 0;
    for (int64_t k = 0; k < of.rows.negatives; ++k) {
      const int64_t triplet = anchor * of.rows.negatives + k;
      sum += of.ToPositive(triplet, column) + of.ToNegative(triplet, column);
    }
    dx[anchor * of.rows.stride * of.rows.columns + column] = sum;
  }
};

struct PositiveGradient {
  TripletGradient of;
  float* dx;
  MOKA_HD void operator()(int64_t anchor, int64_t column) const {
    float sum = 0;
    for (int64_t k = 0; k < of.rows.negatives; ++k) {
      sum -= of.ToPositive(anchor * of.rows.negatives + k, column);
    }
    dx[anchor * of.rows.stride * of.rows.columns + column] = sum;
  }
};

struct NegativeGradient {
  TripletGradient of;
  float* dx;
  MOKA_HD void operator()(int64_t triplet, int64_t column) const {
    dx[of.rows.NegativeRow(triplet) * of.rows.columns + column] = -of.ToNegative(triplet, column);
  }
};

/// loss = sum_n w_n max(0, p_n - n_n + margin) / (2 N), p_n and n_n the squared distances of anchor
/// n to its positive and its negative, w_n the weights of the fourth bottom or 1. losstype 1:
/// max(0, 1 - n_n / (p_n + margin)) in the sum.
///
/// Bottoms: anchors, positives and negatives, N x C each, all with a derivative, and N weights if
/// wanted. Schroff, Kalenichenko and Philbin, "FaceNet" (CVPR 2015).
///
/// With two bottoms the first holds sets of 2 + num_triplets features: an anchor, its positive and
/// its negatives. N is then the number of sets, each negative makes a triplet, each set adds p_n
/// once, and losstype is 1 unless given; the second bottom (labels) is not looked at. Wohlhart and
/// Lepetit, "Learning Descriptors for Object Recognition and 3D Pose Estimation" (CVPR 2015).
class TripletLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  bool Differentiable(int bottom) const override {
    return bottom == 0 || (param().bottom_size() > 2 && bottom < 3);
  }

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const TripletLossParameter& triplet = param().triplet_loss_param();
    in_sets_ = bottoms.size() == 2;
    relative_ = triplet.has_losstype() ? triplet.losstype() == 1 : in_sets_;
    if (triplet.losstype() > 1) {
      FailAt(param(), "triplet_loss_param.losstype", "losstype is ", triplet.losstype(),
             ", but must be 0 or 1");
    }
    if (relative_ && !(triplet.margin() > 0)) {
      FailAt(param(), "triplet_loss_param.margin", "margin is ", triplet.margin(),
             ", but must be positive for losstype 1");
    }
    if (triplet.num_triplets() < 1 || (!in_sets_ && triplet.num_triplets() != 1)) {
      FailAt(
          param(), "triplet_loss_param.num_triplets", "num_triplets is ", triplet.num_triplets(),
          in_sets_ ? ", but must be at least 1" : ", but says something for features in sets only");
    }
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const Shape& shape = bottoms[0]->shape();
    const int64_t rows = shape.LegacyDim(0);
    rows_.columns = shape.Count() / rows;
    if (in_sets_) {
      rows_.negatives = param().triplet_loss_param().num_triplets();
      rows_.stride = 2 + rows_.negatives;
      Require(rows % rows_.stride == 0, "takes sets of ", rows_.stride,
              " items (2 + num_triplets), but bottom \"", bottoms[0]->name(), "\" is ", shape);
    }
    anchors_ = rows / rows_.stride;
    RequireSameSizes(bottoms);
    to_positive_.Resize(Shape{anchors_ * rows_.negatives});
    to_negative_.Resize(Shape{anchors_ * rows_.negatives});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const Arrays at = Read(context, bottoms);
    const int64_t triplets = anchors_ * rows_.negatives;
    ReduceRows<SumOf>(context, triplets, rows_.columns,
                      SquaredRowDistance{at.anchor, at.positive, rows_, false},
                      StoreScaled{to_positive_.Write(context), 1, 0});
    ReduceRows<SumOf>(context, triplets, rows_.columns,
                      SquaredRowDistance{at.anchor, at.negative, rows_, true},
                      StoreScaled{to_negative_.Write(context), 1, 0});
    WriteLoss<SumOfDoubles>(context, triplets, Cost(context, bottoms),
                            LossNormalizer(2.0 * static_cast<double>(anchors_)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const Arrays at = Read(context, bottoms);
    const TripletGradient of{Cost(context, bottoms), rows_, at.anchor, at.positive, at.negative,
                             Scale(context, tops)};
    // In sets, the three write rows of one gradient.
    float* sets = in_sets_ && propagate[0] ? bottoms[0]->diff().Write(context) : nullptr;
    const auto gradient = [&](int which) -> float* {
      if (in_sets_) return sets == nullptr ? nullptr : sets + which * rows_.columns;
      return propagate[which] ? bottoms[which]->diff().Write(context) : nullptr;
    };
    if (float* dx = gradient(0)) {
      ForEach2D(context, anchors_, rows_.columns, AnchorGradient{of, dx}, rows_.negatives);
    }
    if (float* dx = gradient(1)) {
      ForEach2D(context, anchors_, rows_.columns, PositiveGradient{of, dx}, rows_.negatives);
    }
    if (float* dx = gradient(2)) {
      ForEach2D(context, anchors_ * rows_.negatives, rows_.columns, NegativeGradient{of, dx});
    }
  }

 private:
  struct Arrays {
    const float* anchor;
    const float* positive;
    const float* negative;
  };

  void RequireSameSizes(const BlobVector& bottoms) const {
    const Shape& shape = bottoms[0]->shape();
    for (size_t i = 1; i < 3 && !in_sets_; ++i) {
      const Shape& other = bottoms[i]->shape();
      Require(other.LegacyDim(0) == anchors_ && other.Count() == shape.Count(),
              "compares features of one size, but \"", bottoms[0]->name(), "\" is ", shape,
              " and \"", bottoms[i]->name(), "\" is ", other);
    }
    if (bottoms.size() < 4) return;
    Require(bottoms[3]->count() == anchors_, "needs one weight for each of ", anchors_,
            " triplets, but \"", bottoms[3]->name(), "\" is ", bottoms[3]->shape());
  }

  Arrays Read(Context& context, const BlobVector& bottoms) const {
    const float* first = bottoms[0]->data().Read(context);
    if (in_sets_) return {first, first + rows_.columns, first + 2 * rows_.columns};
    return {first, bottoms[1]->data().Read(context), bottoms[2]->data().Read(context)};
  }

  TripletCost Cost(Context& context, const BlobVector& bottoms) const {
    return {to_positive_.Read(context),
            to_negative_.Read(context),
            bottoms.size() > 3 ? bottoms[3]->data().Read(context) : nullptr,
            param().triplet_loss_param().margin(),
            relative_,
            in_sets_,
            rows_.negatives};
  }

  bool in_sets_ = false;
  bool relative_ = false;
  TripletRows rows_;
  int64_t anchors_ = 0;
  Tensor to_positive_;
  Tensor to_negative_;
};

const RegisterLayer<TripletLossLayer> kRegistration(
    LayerInfo("TripletLoss")
        .Summary("draws features to those of their kind and away from others")
        .Field("triplet_loss_param")
        .Bottoms(2, 4,
                 "anchors, positives, negatives, N x C each, and weights; or sets, and labels")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
