#include "moka/base/error.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// The top is an array that is learned, of parameter_param.shape, zeros at first unless `filler`
/// (of a fork) says otherwise. No bottoms. Throws Error without a shape. Follows Caffe's Parameter,
/// but the gradient adds up.
class ParameterLayer : public Layer {
 public:
  using Layer::Layer;

  bool SharesMemory() const override { return true; }

  void SetUp(const BlobVector&, const BlobVector&) override {
    Require(param().parameter_param().has_shape(), "needs a parameter_param.shape");
    const BlobShape& shape = param().parameter_param().shape();
    AddParam(Shape(std::vector<int64_t>(shape.dim().begin(), shape.dim().end())),
             param().parameter_param().filler());
  }

  void Reshape(const BlobVector&, const BlobVector& tops) override {
    tops[0]->Resize(param_blob(0).shape());
  }

  void Forward(Context& context, const BlobVector&, const BlobVector& tops) override {
    Tensor& learned = param_blob(0).data();
    if (copies()) {
      const float* from = learned.Read(context);
      Copy(context, learned.count(), from, tops[0]->data().Write(context));
    } else {
      tops[0]->data().ShareWith(learned);
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>&,
                const BlobVector&) override {
    if (!param_propagate(0)) return;
    const float* gradient = tops[0]->diff().Read(context);
    float beta;
    float* sum = param_blob(0).diff().Accumulate(context, &beta);
    Axpby(context, tops[0]->count(), 1, gradient, beta, sum);
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }
};

const RegisterLayer<ParameterLayer> kRegistration(LayerInfo("Parameter")
                                                      .Summary("an array that is learned")
                                                      .Field("parameter_param")
                                                      .Bottoms(0, "none")
                                                      .Tops(1, "the array"));

}  // namespace
}  // namespace moka
