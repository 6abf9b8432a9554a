#include "moka/device/reduce.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/softmax.hpp"

namespace moka {
namespace {

/// p_c = exp(x_c) / sum_k exp(x_k) along `axis`, computed on x - max(x) so that nothing overflows.
/// Any shape; the top has the bottom's. Follows Caffe's Softmax.
class SoftmaxLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    SameShapeLayer::Reshape(bottoms, tops);
    view_ = AxisView::Of(bottoms[0]->shape(), param().softmax_param().axis());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    SoftmaxForward(context, view_, x, tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* y = tops[0]->data().Read(context);
    const float* dy = tops[0]->diff().Read(context);
    SoftmaxBackward(context, view_, y, dy, bottoms[0]->diff().Write(context));
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    return 4 * tops[0]->count();
  }

 private:
  AxisView view_;
};

const RegisterLayer<SoftmaxLayer> kRegistration(LayerInfo("Softmax")
                                                    .Summary("probabilities along an axis")
                                                    .Field("softmax_param")
                                                    .Bottoms(1, "scores, N x C x ...")
                                                    .Tops(1, "probabilities, the same shape")
                                                    .InPlace());

}  // namespace
}  // namespace moka
