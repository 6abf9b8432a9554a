#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct HardSwishFunction {
  MOKA_HD float Value(float x) const {
    const float gate = x > -3 ? (x < 3 ? x + 3.0f : 6.0f) : 0.0f;
    return x * gate * (1.0f / 6.0f);
  }
  MOKA_HD float Gradient(float dy, float x, float) const {
    return x > -3 ? (x < 3 ? dy * (2.0f * x + 3.0f) * (1.0f / 6.0f) : dy) : 0.0f;
  }
};

/// y = x * min(max(x + 3, 0), 6) / 6. Any shape. Howard et al., MobileNetV3 (ICCV 2019).
class HardSwishLayer : public KeptInputLayer<HardSwishFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;
};

const RegisterLayer<HardSwishLayer> kRegistration(LayerInfo("HardSwish")
                                                      .Summary("x * min(max(x + 3, 0), 6) / 6")
                                                      .Bottoms(1, "any shape")
                                                      .Tops(1, "the same shape")
                                                      .InPlace());

}  // namespace
}  // namespace moka
