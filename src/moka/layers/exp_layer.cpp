#include <cmath>

#include "moka/base/vector_math.hpp"
#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// y = outer * exp(inner * x)
struct ExpFunction {
  float inner = 1, outer = 1;
  MOKA_HD float Value(float x) const { return outer * VectorExp(inner * x); }
  MOKA_HD float Gradient(float dy, float, float y) const { return dy * y * inner; }
};

/// y = base ^ (shift + scale * x); base -1 stands for e. Any shape. Follows Caffe's Exp. Throws for
/// another base that is not above 0.
class ExpLayer : public ElementwiseLayer<ExpFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const ExpParameter& exp = param().exp_param();
    Require(exp.base() == -1 || exp.base() > 0, "has base ", exp.base(),
            ": it must be above 0, or -1 for e");
    const double log_base = exp.base() == -1 ? 1.0 : std::log(static_cast<double>(exp.base()));
    function_.inner = static_cast<float>(log_base * exp.scale());
    function_.outer = static_cast<float>(std::exp(log_base * exp.shift()));
  }
};

const RegisterLayer<ExpLayer> kRegistration(LayerInfo("Exp")
                                                .Summary("base ^ (shift + scale * x)")
                                                .Field("exp_param")
                                                .Bottoms(1, "any shape")
                                                .Tops(1, "the same shape")
                                                .InPlace());

}  // namespace
}  // namespace moka
