#include "moka/base/vector_math.hpp"
#include "moka/layers/kept_input.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct ELUFunction {
  float alpha = 1, lambda = 1;
  MOKA_HD float Value(float x) const {
    return lambda * (x > 0 ? x : alpha * (VectorExp(x) - 1.0f));
  }
  MOKA_HD float Gradient(float dy, float x, float y) const {
    return dy * (x > 0 ? lambda : y + lambda * alpha);
  }
};

/// y = x above 0 and alpha * (exp(x) - 1) below, all times lambda (a field of NVIDIA's fork). The
/// gradient at 0 is that of the negative side. Any shape. Clevert et al. (ICLR 2016); follows
/// Caffe's ELU.
class ELULayer : public KeptInputLayer<ELUFunction> {
 public:
  using KeptInputLayer::KeptInputLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    function_ = {param().elu_param().alpha(), param().elu_param().lambda()};
  }

 protected:
  // y has the sign of x otherwise.
  bool NeedsInput() const override { return function_.alpha < 0 || function_.lambda <= 0; }
};

const RegisterLayer<ELULayer> kRegistration(LayerInfo("ELU")
                                                .Summary("x, but alpha * (exp(x) - 1) below 0")
                                                .Field("elu_param")
                                                .Bottoms(1, "any shape")
                                                .Tops(1, "the same shape")
                                                .InPlace());

}  // namespace
}  // namespace moka
