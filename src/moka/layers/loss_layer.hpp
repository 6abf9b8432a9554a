#pragma once

#include "moka/device/reduce.hpp"
#include "moka/layers/class_weights.hpp"
#include "moka/layers/layer.hpp"
#include "moka/layers/loss_normalizer.hpp"

namespace moka {

/// What the gradient of each position's loss is multiplied by: the weight of the loss in the net
/// over the normaliser, both on the device.
struct LossScale {
  const float* weight;
  const float* inverse;
  MOKA_HD float operator()() const { return *weight * *inverse; }
};

/// Store functor of a loss's last reduction: the loss, and 1 / divisor for Backward.
struct StoreLoss {
  LossNormalizer normalizer;
  float* loss;
  float* inverse;
  MOKA_HD void operator()(int64_t, const ValidSum& total) const {
    const double divisor = normalizer.Divisor(total.valid);
    *loss = static_cast<float>(total.sum / divisor);
    *inverse = static_cast<float>(1 / divisor);
  }
  MOKA_HD void operator()(int64_t, double sum) const { (*this)(0, ValidSum{sum, 0}); }
};

/// A layer whose first top is one number that training makes small. Its weight in the net's loss is
/// 1 where the prototxt gives none. Bottom 0 has a derivative; the others are labels unless the
/// layer says otherwise.
class LossLayer : public Layer {
 public:
  using Layer::Layer;

  float DefaultLossWeight(int top) const override { return top == 0 ? 1.0f : 0.0f; }
  bool Differentiable(int bottom) const override { return bottom == 0; }

  void Reshape(const BlobVector&, const BlobVector& tops) override {
    if (!TakesClassWeights()) RefuseClassWeights(param());
    tops[0]->Resize(Shape());
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return 4 * bottoms[0]->count();
  }

 protected:
  /// Whether the layer follows loss_param's class weights and label smoothing.
  virtual bool TakesClassWeights() const { return false; }

  /// Writes the sum of load(0, i) over [0, n), divided as `normalizer` says. Op is SumOfDoubles, or
  /// SumOfValid where the divisor may depend on how many positions count.
  template <typename Op, typename Load>
  void WriteLoss(Context& context, int64_t n, Load load, const LossNormalizer& normalizer,
                 const BlobVector& tops) {
    ReduceRows<Op>(context, 1, n, load,
                   StoreLoss{normalizer, tops[0]->data().Write(context), inverse_.Write(context)});
  }

  /// In Backward, after a Forward that called WriteLoss.
  LossScale Scale(Context& context, const BlobVector& tops) const {
    return {tops[0]->diff().Read(context), inverse_.Read(context)};
  }

 private:
  Tensor inverse_;
};

}  // namespace moka
