#include <cmath>

#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct PowerFunction {
  float power = 1, scale = 1, shift = 0;
  MOKA_HD float Value(float x) const {
    // Without a power or a scale the output is constant, whatever x is.
    const float base = scale == 0 ? shift : shift + scale * x;
    if (power == 1.0f) return base;
    if (power == 2.0f) return base * base;
    return power == 0.0f ? 1.0f : powf(base, power);
  }
  MOKA_HD float Gradient(float dy, float x, float) const {
    const float factor = power * scale;
    if (factor == 0.0f) return 0.0f;
    const float base = shift + scale * x;
    if (power == 1.0f) return dy * factor;
    if (power == 2.0f) return dy * factor * base;
    return dy * factor * powf(base, power - 1.0f);
  }
};

/// y = (shift + scale * x) ^ power. Any shape. With power * scale = 0 the output is constant and
/// the gradient 0. Follows Caffe's Power.
class PowerLayer : public KeptInputLayer<PowerFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const PowerParameter& power = param().power_param();
    function_ = {power.power(), power.scale(), power.shift()};
  }

 protected:
  bool NeedsInput() const override { return function_.power != 1.0f; }
};

const RegisterLayer<PowerLayer> kRegistration(LayerInfo("Power")
                                                  .Summary("(shift + scale * x) ^ power")
                                                  .Field("power_param")
                                                  .Bottoms(1, "any shape")
                                                  .Tops(1, "the same shape")
                                                  .InPlace());

}  // namespace
}  // namespace moka
