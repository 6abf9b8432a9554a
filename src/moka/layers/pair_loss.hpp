#pragma once

#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"

namespace moka {

/// The weighted difference of two arrays: inside * (a - b), and the weight of its loss.
struct WeightedPair {
  const float* a;
  const float* b;
  const float* inside;   // null for 1
  const float* outside;  // null for 1
  MOKA_HD float Inside(int64_t i) const { return inside == nullptr ? 1.0f : inside[i]; }
  MOKA_HD float Outside(int64_t i) const { return outside == nullptr ? 1.0f : outside[i]; }
  MOKA_HD float Difference(int64_t i) const { return Inside(i) * (a[i] - b[i]); }
};

template <typename Function>
struct PairLossAt {
  Function function;
  WeightedPair pair;
  MOKA_HD double operator()(int64_t, int64_t i) const {
    return pair.Outside(i) * function.Value(pair.Difference(i));
  }
};

template <typename Function>
struct PairLossGradient {
  Function function;
  WeightedPair pair;
  LossScale scale;
  float sign;
  float* gradient;
  MOKA_HD void operator()(int64_t i) const {
    const float slope = function.Slope(pair.Difference(i));
    gradient[i] = sign * scale() * pair.Outside(i) * pair.Inside(i) * slope;
  }
};

/// A loss of two arrays that are compared element by element:
///
///     loss = sum_i outside_i * f(inside_i * (a_i - b_i)) / N
///
/// with N the length of the first axis of a. Bottoms a, b and, if given, inside and outside, all
/// with the same first axis and as many values. a and b have a derivative. A layer file gives the
/// functor f,
///
///     struct SquareFunction {
///       MOKA_HD float Value(float d) const { return d * d; }
///       MOKA_HD float Slope(float d) const { return 2 * d; }
///     };
///
/// and registers PairLossLayer<SquareFunction>, or a class that derives from it and sets
/// `function_` in SetUp.
template <typename Function>
class PairLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  bool Differentiable(int bottom) const override { return bottom < 2; }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const Shape& first = bottoms[0]->shape();
    for (const Blob* bottom : bottoms) {
      const Shape& shape = bottom->shape();
      Require(shape.LegacyDim(0) == first.LegacyDim(0) && shape.Count() == first.Count(),
              "compares bottoms with the same number of items and values, but \"",
              bottoms[0]->name(), "\" is ", first, " and \"", bottom->name(), "\" is ", shape);
    }
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const LossNormalizer by_items(static_cast<double>(bottoms[0]->shape().LegacyDim(0)));
    WriteLoss<SumOfDoubles>(context, bottoms[0]->count(),
                            PairLossAt<Function>{function_, PairOf(context, bottoms)}, by_items,
                            tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const WeightedPair pair = PairOf(context, bottoms);
    const LossScale scale = Scale(context, tops);
    for (int i = 0; i < 2; ++i) {
      if (!propagate[i]) continue;
      ForEach(context, bottoms[i]->count(),
              PairLossGradient<Function>{function_, pair, scale, i == 0 ? 1.0f : -1.0f,
                                         bottoms[i]->diff().Write(context)});
    }
  }

 protected:
  Function function_;

  static WeightedPair PairOf(Context& context, const BlobVector& bottoms) {
    const auto weights = [&](size_t i) {
      return i < bottoms.size() ? bottoms[i]->data().Read(context) : nullptr;
    };
    return {bottoms[0]->data().Read(context), bottoms[1]->data().Read(context), weights(2),
            weights(3)};
  }
};

}  // namespace moka
