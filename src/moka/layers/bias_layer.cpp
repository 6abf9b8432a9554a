#include "moka/device/math.hpp"
#include "moka/layers/broadcast.hpp"
#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct AddBias {
  const float* x;
  const float* bias;
  float* y;
  MOKA_HD void operator()(int64_t channel, int64_t i) const { y[i] = x[i] + bias[channel]; }
};

/// y = x + bias. The bias covers axes [axis, axis + num_axes) of x and is the same along all others
/// (num_axes -1: all from `axis` on, 0: a single number).
///
/// One bottom: the bias is learned, 0 at first unless `filler` says otherwise. Two bottoms: the
/// second is the bias, its shape as above from `axis` on. Follows Caffe's Bias.
class BiasLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const BiasParameter& bias = param().bias_param();
    if (bottoms.size() > 1) return;
    AddParam(OperandShape(bottoms[0]->shape(), bias.axis(), bias.num_axes()), bias.filler());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    view_ = OperandView(bottoms[0]->shape(), Bias(bottoms).shape(), param().bias_param().axis());
    tops[0]->Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const float* bias = Bias(bottoms).data().Read(context);
    ForEachChannel(context, view_, AddBias{x, bias, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const bool learned = bottoms.size() == 1;
    const float* dy = tops[0]->diff().Read(context);
    if (learned ? param_propagate(0) : propagate[1]) {
      SumChannels(context, view_, LoadElement{dy}, StoreGradient(context, &Bias(bottoms), learned));
    }
    if (propagate[0] && tops[0] != bottoms[0]) {
      Copy(context, tops[0]->count(), dy, bottoms[0]->diff().Write(context));
    }
  }

 private:
  Blob& Bias(const BlobVector& bottoms) {
    return bottoms.size() == 1 ? param_blob(0) : *bottoms[1];
  }

  AxisView view_;
};

const RegisterLayer<BiasLayer> kRegistration(
    LayerInfo("Bias")
        .Summary("adds a bias, a learned one for each channel or a second bottom")
        .Field("bias_param")
        .Bottoms(1, 2, "any shape, and the bias if it is not learned")
        .Tops(1, "the same shape")
        .InPlace());

}  // namespace
}  // namespace moka
