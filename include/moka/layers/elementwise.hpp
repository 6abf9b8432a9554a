#pragma once

#include "moka/device/for_each.hpp"
#include "moka/layers/layer.hpp"
#include "moka/tensor/elements.hpp"

namespace moka {

template <typename Function>
struct ElementwiseForward {
  Function function;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t i) const { y[i] = function.Value(x[i]); }
};

template <typename Function>
struct ElementwiseBackward {
  Function function;
  const float* x;
  const float* y;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t i) const { dx[i] = function.Gradient(dy[i], x[i], y[i]); }

  ElementwiseBackward Into(float* gradient) const { return {function, x, y, dy, gradient}; }
};

/// A layer that maps every element by itself: y = f(x). A layer file gives the functor
///
///     struct TanHFunction {
///       MOKA_HD float Value(float x) const { return tanhf(x); }
///       MOKA_HD float Gradient(float dy, float x, float y) const { return dy * (1 - y * y); }
///     };
///
/// and a class that derives from ElementwiseLayer<TanHFunction> and sets `function_` in SetUp.
/// In place, x is gone when Gradient is called and equals y there: a layer that is registered as
/// InPlace must not depend on x beyond what y tells.
template <typename Function>
class ElementwiseLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const Tensor& x = bottoms[0]->data();
    const Elements elements(context, function_.Value(0) == 0, {&x});
    const float* from = elements.Read(x);
    ForEach(context, elements.count(),
            ElementwiseForward<Function>{function_, from, elements.Write(&tops[0]->data())});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const Tensor &x = bottoms[0]->data(), &y = tops[0]->data(), &dy = tops[0]->diff();
    const Elements elements(context, function_.Gradient(0, 0, 0) == 0, {&y, &dy});
    const ElementwiseBackward<Function> backward{function_, elements.Read(x), elements.Read(y),
                                                 elements.Read(dy), nullptr};
    ForEach(context, elements.count(), backward.Into(elements.Write(&bottoms[0]->diff())));
  }

 protected:
  Function function_;
};

}  // namespace moka
