#pragma once

#include "moka/device/for_each.hpp"
#include "moka/layers/layer.hpp"

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
    const float* x = bottoms[0]->data().Read(context);
    ForEach(context, bottoms[0]->count(),
            ElementwiseForward<Function>{function_, x, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* x = bottoms[0]->data().Read(context);
    const float* y = tops[0]->data().Read(context);
    const float* dy = tops[0]->diff().Read(context);
    ForEach(context, bottoms[0]->count(),
            ElementwiseBackward<Function>{function_, x, y, dy, bottoms[0]->diff().Write(context)});
  }

 protected:
  Function function_;
};

}  // namespace moka
