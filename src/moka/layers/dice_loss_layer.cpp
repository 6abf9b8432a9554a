#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/loss_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// Sums of two terms at once.
struct TwoSums {
  double overlap;
  double size;
};

struct SumOfTwo {
  using Value = TwoSums;
  static MOKA_HD TwoSums Identity() { return {0, 0}; }
  static MOKA_HD TwoSums Combine(const TwoSums& a, const TwoSums& b) {
    return {a.overlap + b.overlap, a.size + b.size};
  }
};

struct DiceTerms {
  const float* x;
  const float* y;
  int64_t columns;
  bool squared;
  MOKA_HD TwoSums operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    return {x[i] * y[i], squared ? x[i] * x[i] + y[i] * y[i] : x[i] + y[i]};
  }
};

struct StoreDice {
  float smooth;
  float* above;
  float* below;
  MOKA_HD void operator()(int64_t row, const TwoSums& sums) const {
    above[row] = static_cast<float>(2 * sums.overlap + smooth);
    below[row] = static_cast<float>(sums.size + smooth);
  }
};

struct LoadDiceLoss {
  const float* above;
  const float* below;
  MOKA_HD double operator()(int64_t, int64_t row) const {
    return 1 - static_cast<double>(above[row]) / below[row];
  }
};

struct DiceGradient {
  DiceTerms terms;
  const float* above;
  const float* below;
  LossScale scale;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * terms.columns + column;
    const float ratio = above[row] / below[row];
    const float of_size = terms.squared ? 2 * terms.x[i] : 1.0f;
    dx[i] = scale() * (ratio * of_size - 2 * terms.y[i]) / below[row];
  }
};

/// loss = 1/N sum_n (1 - (2 sum_i x_i y_i + smooth) / (sum_i x_i^2 + sum_i y_i^2 + smooth)), the
/// sums over the values of item n; with squared false the sums below are of x_i and y_i.
///
/// Predictions and targets in [0, 1], N x ..., as many values in each; the predictions have a
/// derivative. smooth must be positive. Milletari, Navab and Ahmadi, "V-Net" (3DV 2016).
class DiceLossLayer : public LossLayer {
 public:
  using LossLayer::LossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const float smooth = param().dice_loss_param().smooth();
    if (!(smooth > 0)) {
      FailAt(param(), "dice_loss_param.smooth", "smooth is ", smooth, ", but must be positive");
    }
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    LossLayer::Reshape(bottoms, tops);
    const Shape &x = bottoms[0]->shape(), &y = bottoms[1]->shape();
    Require(x.LegacyDim(0) == y.LegacyDim(0) && x.Count() == y.Count(),
            "needs a target for each prediction, but \"", bottoms[0]->name(), "\" is ", x,
            " and \"", bottoms[1]->name(), "\" is ", y);
    items_ = x.LegacyDim(0);
    above_.Resize(Shape{items_});
    below_.Resize(Shape{items_});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const DiceTerms terms = Terms(context, bottoms);
    ReduceRows<SumOfTwo>(context, items_, terms.columns, terms,
                         StoreDice{param().dice_loss_param().smooth(), above_.Write(context),
                                   below_.Write(context)});
    WriteLoss<SumOfDoubles>(context, items_,
                            LoadDiceLoss{above_.Read(context), below_.Read(context)},
                            LossNormalizer(static_cast<double>(items_)), tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const DiceTerms terms = Terms(context, bottoms);
    ForEach2D(context, items_, terms.columns,
              DiceGradient{terms, above_.Read(context), below_.Read(context), Scale(context, tops),
                           bottoms[0]->diff().Write(context)});
  }

 private:
  DiceTerms Terms(Context& context, const BlobVector& bottoms) const {
    return {bottoms[0]->data().Read(context), bottoms[1]->data().Read(context),
            bottoms[0]->count() / items_, param().dice_loss_param().squared()};
  }

  int64_t items_ = 0;
  Tensor above_;
  Tensor below_;
};

LayerInfo Info(const std::string& type) {
  return LayerInfo(type)
      .Summary("how little predicted masks overlap with true ones")
      .Field("dice_loss_param")
      .Bottoms(2, "predictions and targets in [0, 1], as many values in each")
      .Tops(1, "the loss")
      .MakesMissingTops();
}

const RegisterLayer<DiceLossLayer> kRegistrations[] = {
    RegisterLayer<DiceLossLayer>(Info("DiceLoss")),
    RegisterLayer<DiceLossLayer>(Info("DiceCoefLoss")),
};

}  // namespace
}  // namespace moka
