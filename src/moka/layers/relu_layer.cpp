#include <cmath>

#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct ReluFunction {
  float slope = 0;
  float limit = 0;
  MOKA_HD float Value(float x) const {
    const float y = x > 0 ? x : slope * x;
    return y < limit ? y : limit;
  }
  // The kink at 0 has the slope of the negative side, and at the limit no slope.
  MOKA_HD float Gradient(float dy, float x, float) const {
    return x > 0 ? (x < limit ? dy : 0.0f) : slope * dy;
  }
};

/// y = max(x, 0) + negative_slope * min(x, 0); with relu6, y is at most 6.
/// Any shape. Follows Caffe's ReLU; relu6 is min(max(x, 0), 6) of MobileNet models.
class ReLULayer : public ElementwiseLayer<ReluFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    function_.slope = param().relu_param().negative_slope();
    function_.limit = param().relu_param().relu6() ? 6.0f : HUGE_VALF;
  }
};

const RegisterLayer<ReLULayer> kRegistration(
    LayerInfo("ReLU")
        .Summary("max(x, 0), or negative_slope * x below 0")
        .Field("relu_param")
        .Bottoms(1, "any shape")
        .Tops(1, "the same shape")
        .InPlace());

}  // namespace
}  // namespace moka
