#include "moka/base/vector_math.hpp"
#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct SigmoidFunction {
  MOKA_HD float Value(float x) const { return VectorSigmoid(x); }
  MOKA_HD float Gradient(float dy, float, float y) const { return dy * y * (1.0f - y); }
};

/// y = 1 / (1 + exp(-x)). Any shape. Follows Caffe's Sigmoid.
class SigmoidLayer : public ElementwiseLayer<SigmoidFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;
};

const RegisterLayer<SigmoidLayer> kRegistration(LayerInfo("Sigmoid")
                                                    .Summary("1 / (1 + exp(-x))")
                                                    .Field("sigmoid_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same shape")
                                                    .InPlace());

}  // namespace
}  // namespace moka
