#include "moka/base/vector_math.hpp"
#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct MishFunction {
  /// tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = exp(x).
  MOKA_HD static float Gate(float x) {
    const float e = VectorExp(x > 20.0f ? 20.0f : x);
    const float n = e * (e + 2.0f);
    return n / (n + 2.0f);
  }
  MOKA_HD float Value(float x) const { return x * Gate(x); }
  MOKA_HD float Gradient(float dy, float x, float) const {
    const float gate = Gate(x);
    return dy * (gate + x * (1.0f - gate * gate) * VectorSigmoid(x));
  }
};

/// y = x * tanh(log(1 + exp(x))). Any shape. Misra (BMVC 2020).
class MishLayer : public KeptInputLayer<MishFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;
};

const RegisterLayer<MishLayer> kRegistration(LayerInfo("Mish")
                                                 .Summary("x * tanh(log(1 + exp(x)))")
                                                 .Bottoms(1, "any shape")
                                                 .Tops(1, "the same shape")
                                                 .InPlace());

}  // namespace
}  // namespace moka
