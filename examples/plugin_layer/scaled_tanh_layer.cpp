#include <cmath>

#include "moka/layers/elementwise.hpp"
#include "moka/layers/plugin.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"
#include "scaled_tanh.pb.h"

MOKA_PLUGIN("scaled_tanh");

namespace plugin_layer {
namespace {

struct ScaledTanhFunction {
  float scale = 1;
  float slope = 1;
  MOKA_HD float Value(float x) const { return scale * tanhf(slope * x); }
  // y tells the slope, so that x may be overwritten.
  MOKA_HD float Gradient(float dy, float, float y) const {
    const float tanh = y / scale;
    return dy * scale * slope * (1 - tanh * tanh);
  }
};

/// y = scale * tanh(slope * x). Any shape. LeCun et al., "Efficient BackProp" (1998).
class ScaledTanhLayer : public moka::ElementwiseLayer<ScaledTanhFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;

  void SetUp(const moka::BlobVector&, const moka::BlobVector&) override {
    const auto fields = moka::PluginParam<ScaledTanhParameter>(param());
    if (!(fields.slope() > 0)) {
      moka::FailAt(param(), "scaled_tanh_param.slope", "slope is ", fields.slope(),
                   ", but must be positive");
    }
    if (fields.scale() == 0) moka::FailAt(param(), "scaled_tanh_param.scale", "scale is 0");
    function_ = {fields.scale(), fields.slope()};
  }
};

const moka::RegisterParam<ScaledTanhParameter> kParam("scaled_tanh_param");

const moka::RegisterLayer<ScaledTanhLayer> kRegistration(
    moka::LayerInfo("ScaledTanh")
        .Summary("tanh with a height and a slope, from a plug-in")
        .Field("scaled_tanh_param")
        .Bottoms(1, "any shape")
        .Tops(1, "the same shape")
        .InPlace());

}  // namespace
}  // namespace plugin_layer
