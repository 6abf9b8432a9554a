#include "moka/base/vector_math.hpp"
#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

constexpr float kAlpha = 1.6732632423543772f;
constexpr float kLambda = 1.0507009873554805f;

struct SeLUFunction {
  MOKA_HD float Value(float x) const {
    return kLambda * (x > 0 ? x : kAlpha * (VectorExp(x) - 1.0f));
  }
  MOKA_HD float Gradient(float dy, float, float y) const {
    return dy * (y > 0 ? kLambda : y + kLambda * kAlpha);
  }
};

/// Self-normalising ELU: y = lambda * x above 0 and lambda * alpha * (exp(x) - 1) below, with
/// alpha = 1.67326 and lambda = 1.05070. Any shape. Klambauer et al. (NIPS 2017).
class SeLULayer : public ElementwiseLayer<SeLUFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;
};

const RegisterLayer<SeLULayer> kRegistration(LayerInfo("SeLU")
                                                 .Summary("a self-normalising ELU")
                                                 .Bottoms(1, "any shape")
                                                 .Tops(1, "the same shape")
                                                 .InPlace());

}  // namespace
}  // namespace moka
