#include "moka/base/vector_math.hpp"
#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct TanHFunction {
  MOKA_HD float Value(float x) const { return VectorTanh(x); }
  MOKA_HD float Gradient(float dy, float, float y) const { return dy * (1.0f - y * y); }
};

/// y = tanh(x). Any shape. Follows Caffe's TanH.
class TanHLayer : public ElementwiseLayer<TanHFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;
};

const RegisterLayer<TanHLayer> kRegistration(LayerInfo("TanH")
                                                 .Summary("the hyperbolic tangent")
                                                 .Field("tanh_param")
                                                 .Bottoms(1, "any shape")
                                                 .Tops(1, "the same shape")
                                                 .InPlace());

}  // namespace
}  // namespace moka
