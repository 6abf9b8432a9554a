#include <cmath>

#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct AbsValFunction {
  MOKA_HD float Value(float x) const { return fabsf(x); }
  MOKA_HD float Gradient(float dy, float x, float) const {
    return x > 0 ? dy : (x < 0 ? -dy : 0.0f);
  }
};

/// y = |x|; the gradient at 0 is 0. Any shape, not in place. Follows Caffe's AbsVal.
class AbsValLayer : public ElementwiseLayer<AbsValFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;
};

const RegisterLayer<AbsValLayer> kRegistration(LayerInfo("AbsVal")
                                                   .Summary("the magnitude |x|")
                                                   .Bottoms(1, "any shape")
                                                   .Tops(1, "the same shape"));

}  // namespace
}  // namespace moka
