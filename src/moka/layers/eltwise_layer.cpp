#include "moka/device/for_each.hpp"
#include "moka/layers/registry.hpp"
#include "moka/tensor/elements.hpp"

namespace moka {
namespace {

struct Multiply {
  const float* a;
  const float* b;
  float* out;
  MOKA_HD void operator()(int64_t i) const { out[i] = a[i] * b[i]; }
};

/// out = a * x + b * y; with b 0, y is not read.
struct WeightedSum {
  float a;
  const float* x;
  float b;
  const float* y;
  float* out;
  MOKA_HD void operator()(int64_t i) const { out[i] = b == 0.0f ? a * x[i] : a * x[i] + b * y[i]; }
};

struct QuotientGradient {
  const float* x;
  const float* y;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t i) const { dx[i] = y[i] / x[i] * dy[i]; }
};

/// The first two bottoms: of equal values the second wins.
struct FirstMax {
  const float* a;
  const float* b;
  float* y;
  float* winner;
  MOKA_HD void operator()(int64_t i) const {
    const bool first = a[i] > b[i];
    y[i] = first ? a[i] : b[i];
    winner[i] = first ? 0.0f : 1.0f;
  }
};

struct NextMax {
  float index;
  const float* x;
  float* y;
  float* winner;
  MOKA_HD void operator()(int64_t i) const {
    const bool larger = x[i] > y[i];
    winner[i] = larger ? index : winner[i];
    y[i] = larger ? x[i] : y[i];
  }
};

struct WinnerGradient {
  float index;
  const float* winner;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t i) const { dx[i] = winner[i] == index ? dy[i] : 0.0f; }
};

/// Bottoms of one shape combined element by element: PROD, SUM (each times its coeff, 1 if not
/// given) or MAX. Of equal values bottom 1 wins over bottom 0, later ones only if strictly larger.
/// With stable_prod_grad the gradient of a product is that of the other factors, else y / x, which
/// is faster for many bottoms and undefined at 0. Follows Caffe's Eltwise.
///
/// Throws for bottoms of different shapes, and for coefficients that do not fit.
class EltwiseLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const EltwiseParameter& eltwise = param().eltwise_param();
    const int given = eltwise.coeff_size();
    Require(given == 0 || given == static_cast<int>(bottoms.size()), "has ", given,
            " coeff(s) for ", bottoms.size(), " bottoms: give one each, or none");
    Require(given == 0 || eltwise.operation() != EltwiseParameter::PROD,
            "has coeff with operation PROD: coefficients are for SUM");
    coefficients_.assign(bottoms.size(), 1.0f);
    for (int i = 0; i < given; ++i) coefficients_[i] = eltwise.coeff(i);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    for (const Blob* bottom : bottoms) {
      Require(bottom->shape() == bottoms[0]->shape(), "bottoms \"", bottoms[0]->name(), "\" (",
              bottoms[0]->shape(), ") and \"", bottom->name(), "\" (", bottom->shape(),
              ") need the same shape");
    }
    tops[0]->Resize(bottoms[0]->shape());
    winner_.Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const Elements elements(context, true, {&bottoms[0]->data(), &bottoms[1]->data()});
    const float* a = elements.Read(bottoms[0]->data());
    const float* b = elements.Read(bottoms[1]->data());
    float* y = elements.Write(&tops[0]->data());
    float* winner = operation() == EltwiseParameter::MAX ? elements.Write(&winner_) : nullptr;
    const int64_t n = elements.count();
    switch (operation()) {
      case EltwiseParameter::PROD:
        ForEach(context, n, Multiply{a, b, y});
        break;
      case EltwiseParameter::SUM:
        ForEach(context, n, WeightedSum{coefficients_[0], a, coefficients_[1], b, y});
        break;
      case EltwiseParameter::MAX:
        ForEach(context, n, FirstMax{a, b, y, winner});
        break;
    }
    for (size_t i = 2; i < bottoms.size(); ++i) {
      const float* x = elements.Read(bottoms[i]->data());
      switch (operation()) {
        case EltwiseParameter::PROD:
          ForEach(context, n, Multiply{y, x, y});
          break;
        case EltwiseParameter::SUM:
          ForEach(context, n, WeightedSum{1, y, coefficients_[i], x, y});
          break;
        case EltwiseParameter::MAX:
          ForEach(context, n, NextMax{static_cast<float>(i), x, y, winner});
          break;
      }
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const Tensor& y = tops[0]->data();
    // A quotient of padding is no number: those gradients are computed on plain arrays.
    const Elements elements(context, !UsesQuotient(), {&y, &tops[0]->diff()});
    const float* dy = elements.Read(tops[0]->diff());
    const int64_t n = elements.count();
    for (size_t i = 0; i < bottoms.size(); ++i) {
      if (!propagate[i]) continue;
      float* dx = elements.Write(&bottoms[i]->diff());
      if (operation() == EltwiseParameter::SUM) {
        ForEach(context, n, WeightedSum{coefficients_[i], dy, 0, dy, dx});
      } else if (operation() == EltwiseParameter::MAX) {
        ForEach(context, n, WinnerGradient{static_cast<float>(i), elements.Read(winner_), dy, dx});
      } else if (UsesQuotient()) {
        const float* x = elements.Read(bottoms[i]->data());
        ForEach(context, n, QuotientGradient{x, elements.Read(y), dy, dx});
      } else {
        MultiplyOthers(context, elements, bottoms, i, dy, dx);
      }
    }
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector& tops) const override {
    return tops[0]->count() * static_cast<int64_t>(bottoms.size() - 1);
  }

 private:
  EltwiseParameter::EltwiseOp operation() const { return param().eltwise_param().operation(); }

  bool UsesQuotient() const {
    return operation() == EltwiseParameter::PROD && !param().eltwise_param().stable_prod_grad();
  }

  static void MultiplyOthers(Context& context, const Elements& elements, const BlobVector& bottoms,
                             size_t own, const float* dy, float* dx) {
    const float* product = dy;
    for (size_t i = 0; i < bottoms.size(); ++i) {
      if (i == own) continue;
      const float* x = elements.Read(bottoms[i]->data());
      ForEach(context, elements.count(), Multiply{product, x, dx});
      product = dx;
    }
  }

  std::vector<float> coefficients_;
  Tensor winner_;  // the bottom whose value was largest
};

const RegisterLayer<EltwiseLayer> kRegistration(
    LayerInfo("Eltwise")
        .Summary("sum, product or maximum of several blobs, element by element")
        .Field("eltwise_param")
        .Bottoms(2, Arity::kAny, "blobs of one shape")
        .Tops(1, "the same shape"));

}  // namespace
}  // namespace moka
