#include <cmath>

#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct LogFunction {
  float scale = 1, shift = 0;
  float factor = 1;  // 1 / log(base)
  MOKA_HD float Value(float x) const { return logf(shift + scale * x) * factor; }
  MOKA_HD float Gradient(float dy, float x, float) const {
    return dy * scale * factor / (shift + scale * x);
  }
};

/// y = log(shift + scale * x) to `base`; base -1 stands for e. Any shape. Follows Caffe's Log.
/// Throws for another base that is not above 0, and for base 1.
class LogLayer : public KeptInputLayer<LogFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const LogParameter& log = param().log_param();
    Require(log.base() == -1 || log.base() > 0, "has base ", log.base(),
            ": it must be above 0, or -1 for e");
    Require(log.base() != 1, "has base 1, to which there is no logarithm");
    const double log_base = log.base() == -1 ? 1.0 : std::log(static_cast<double>(log.base()));
    function_ = {log.scale(), log.shift(), static_cast<float>(1.0 / log_base)};
  }
};

const RegisterLayer<LogLayer> kRegistration(LayerInfo("Log")
                                                .Summary("the logarithm of shift + scale * x")
                                                .Field("log_param")
                                                .Bottoms(1, "any shape")
                                                .Tops(1, "the same shape")
                                                .InPlace());

}  // namespace
}  // namespace moka
