#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct SquaredDifference {
  const float* a;
  const float* b;
  int64_t columns;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const float difference = a[row * columns + column] - b[row * columns + column];
    return difference * difference;
  }
};

struct Pairs {
  const float* similar;
  const float* squared_distance;
  float margin;
  bool legacy;
  MOKA_HD bool Similar(int64_t i) const { return static_cast<int>(similar[i]) != 0; }
};

struct PairLoss {
  Pairs pairs;
  MOKA_HD double operator()(int64_t, int64_t i) const {
    const float squared = pairs.squared_distance[i];
    if (pairs.Similar(i)) return squared;
    if (pairs.legacy) return fmaxf(0.0f, pairs.margin - squared);
    const float missing = fmaxf(0.0f, pairs.margin - sqrtf(squared));
    return missing * missing;
  }
};

/// What the difference of pair i is multiplied by in the gradient of a.
struct PairFactor {
  Pairs pairs;
  LossScale scale;
  float* factor;
  MOKA_HD void operator()(int64_t i) const {
    const float twice = 2 * scale();
    const float squared = pairs.squared_distance[i];
    if (pairs.Similar(i)) {
      factor[i] = twice;
    } else if (pairs.legacy) {
      factor[i] = pairs.margin > squared ? -twice : 0.0f;
    } else {
      const float distance = sqrtf(squared);
      // Keeps the direction of a pair that coincides from being 0 / 0.
      const float away = fmaxf(0.0f, pairs.margin - distance) / (distance + 1e-4f);
      factor[i] = -twice * away;
    }
  }
};

struct PairGradient {
  const float* a;
  const float* b;
  int64_t columns;
  const float* factor;
  float sign;
  float* gradient;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    gradient[i] = sign * factor[row] * (a[i] - b[i]);
  }
};

/// loss = sum_n (y d^2 + (1 - y) max(margin - d, 0)^2) / (2 N), d = ||a_n - b_n||, y = 1 for
/// similar pairs and 0 for others; with legacy_version, max(margin - d^2, 0) for the others.
///
/// Features a and b N x C, similarities N (anything but 0 means similar). a and b have a
/// derivative. Hadsell, Chopra and LeCun (CVPR 2006); follows Caffe's ContrastiveLoss.
class ContrastiveLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  bool Differentiable(int bottom) const override { return bottom < 2; }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const Shape &a = bottoms[0]->shape(), &b = bottoms[1]->shape();
    items_ = a.LegacyDim(0);
    features_ = a.Count(1);
    Require(b.LegacyDim(0) == items_ && b.Count() == a.Count(),
            "compares features of one size, but \"", bottoms[0]->name(), "\" is ", a, " and \"",
            bottoms[1]->name(), "\" is ", b);
    Require(bottoms[2]->count() == items_, "needs one similarity for each of ", items_,
            " pairs, but \"", bottoms[2]->name(), "\" is ", bottoms[2]->shape());
    squared_distance_.Resize(Shape{items_});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const SquaredDifference load{bottoms[0]->data().Read(context), bottoms[1]->data().Read(context),
                                 features_};
    ReduceRows<SumOf>(context, items_, features_, load,
                      StoreScaled{squared_distance_.Write(context), 1, 0});
    WriteLoss<SumOfDoubles>(context, items_, PairLoss{PairsOf(context, bottoms)},
                            LossNormalizer(2.0 * static_cast<double>(items_)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    float* factor = context.Scratch(items_);
    ForEach(context, items_, PairFactor{PairsOf(context, bottoms), Scale(context, tops), factor});
    const float* a = bottoms[0]->data().Read(context);
    const float* b = bottoms[1]->data().Read(context);
    for (int i = 0; i < 2; ++i) {
      if (!propagate[i]) continue;
      ForEach2D(context, items_, features_,
                PairGradient{a, b, features_, factor, i == 0 ? 1.0f : -1.0f,
                             bottoms[i]->diff().Write(context)});
    }
  }

 private:
  Pairs PairsOf(Context& context, const BlobVector& bottoms) const {
    const ContrastiveLossParameter& contrastive = param().contrastive_loss_param();
    return {bottoms[2]->data().Read(context), squared_distance_.Read(context), contrastive.margin(),
            contrastive.legacy_version()};
  }

  int64_t items_ = 0;
  int64_t features_ = 0;
  Tensor squared_distance_;
};

const RegisterLayer<ContrastiveLossLayer> kRegistration(
    LayerInfo("ContrastiveLoss")
        .Summary("draws similar pairs together and others apart up to a margin")
        .Field("contrastive_loss_param")
        .Bottoms(3, "features and features, N x C, and N similarities")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
