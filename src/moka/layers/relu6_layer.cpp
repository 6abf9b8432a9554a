#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct ReLU6Function {
  MOKA_HD float Value(float x) const { return x > 0 ? (x < 6 ? x : 6.0f) : 0.0f; }
  MOKA_HD float Gradient(float dy, float, float y) const { return y > 0 && y < 6 ? dy : 0.0f; }
};

/// y = min(max(x, 0), 6), of MobileNet models; the gradient passes between 0 and 6. Any shape.
class ReLU6Layer : public ElementwiseLayer<ReLU6Function> {
 public:
  using ElementwiseLayer::ElementwiseLayer;
};

const RegisterLayer<ReLU6Layer> kRegistration(LayerInfo("ReLU6")
                                                  .Summary("max(x, 0), at most 6")
                                                  .Bottoms(1, "any shape")
                                                  .Tops(1, "the same shape")
                                                  .InPlace());

}  // namespace
}  // namespace moka
