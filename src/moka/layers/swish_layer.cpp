#include "moka/base/vector_math.hpp"
#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct SwishFunction {
  float beta = 1;
  MOKA_HD float Value(float x) const { return x * VectorSigmoid(beta * x); }
  MOKA_HD float Gradient(float dy, float x, float y) const {
    return dy * (beta * y + VectorSigmoid(beta * x) * (1.0f - beta * y));
  }
};

/// y = x / (1 + exp(-beta * x)). Any shape. Ramachandran et al. (2017); follows Caffe's Swish.
class SwishLayer : public KeptInputLayer<SwishFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    function_.beta = param().swish_param().beta();
  }
};

const RegisterLayer<SwishLayer> kRegistration(LayerInfo("Swish")
                                                  .Summary("x / (1 + exp(-beta * x))")
                                                  .Field("swish_param")
                                                  .Bottoms(1, "any shape")
                                                  .Tops(1, "the same shape")
                                                  .InPlace());

}  // namespace
}  // namespace moka
