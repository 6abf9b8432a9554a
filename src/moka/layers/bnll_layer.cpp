#include <cmath>

#include "moka/base/vector_math.hpp"
#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct BNLLFunction {
  MOKA_HD float Value(float x) const { return (x > 0 ? x : 0.0f) + log1pf(VectorExp(-fabsf(x))); }
  MOKA_HD float Gradient(float dy, float x, float) const { return dy * VectorSigmoid(x); }
};

/// y = log(1 + exp(x)), the softplus, computed so that nothing overflows (binomial normal log
/// likelihood). Any shape. Follows Caffe's BNLL.
class BNLLLayer : public KeptInputLayer<BNLLFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;
};

const RegisterLayer<BNLLLayer> kRegistration(LayerInfo("BNLL")
                                                 .Summary("log(1 + exp(x)), a smooth ReLU")
                                                 .Bottoms(1, "any shape")
                                                 .Tops(1, "the same shape")
                                                 .InPlace());

}  // namespace
}  // namespace moka
