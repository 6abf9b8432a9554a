#include "moka/device/for_each.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct IsAbove {
  float threshold;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t i) const { y[i] = x[i] > threshold ? 1.0f : 0.0f; }
};

/// y = 1 if x > threshold, else 0. Any shape; no derivative. Follows Caffe's Threshold.
class ThresholdLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    tops[0]->Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    ForEach(context, bottoms[0]->count(),
            IsAbove{param().threshold_param().threshold(), x, tops[0]->data().Write(context)});
  }
};

const RegisterLayer<ThresholdLayer> kRegistration(LayerInfo("Threshold")
                                                      .Summary("1 above a threshold, else 0")
                                                      .Field("threshold_param")
                                                      .Bottoms(1, "any shape")
                                                      .Tops(1, "the same shape")
                                                      .InPlace());

}  // namespace
}  // namespace moka
