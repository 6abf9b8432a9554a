#include "moka/layers/broadcast.hpp"
#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct ScaleElement {
  const float* x;
  const float* factor;
  const float* bias;  // null for 0
  float* kept;        // null if x need not be kept
  float* y;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float value = x[i];
    if (kept != nullptr) kept[i] = value;
    y[i] = value * factor[channel] + (bias == nullptr ? 0.0f : bias[channel]);
  }
};

struct ScaleGradient {
  const float* dy;
  const float* factor;
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const { dx[i] = dy[i] * factor[channel]; }
};

/// y = factor * x, or factor * x + bias with bias_term. Factor and bias cover axes
/// [axis, axis + num_axes) of x and are the same along all others (num_axes -1: all from `axis` on,
/// 0: a single number).
///
/// One bottom: the factor is learned, 1 at first unless `filler` says otherwise. Two bottoms: the
/// second is the factor, its shape as above from `axis` on. The bias is learned in both cases and
/// is the last param. Follows Caffe's Scale, but gradients of params always add up.
class ScaleLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const ScaleParameter& scale = param().scale_param();
    const bool learned = bottoms.size() == 1;
    const Shape shape = learned ? OperandShape(bottoms[0]->shape(), scale.axis(), scale.num_axes())
                                : bottoms[1]->shape();
    if (learned) {
      FillerParameter filler = scale.filler();
      if (!scale.has_filler()) filler.set_value(1);
      AddParam(shape, filler);
    }
    if (scale.bias_term()) AddParam(shape, scale.bias_filler());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    view_ = OperandView(bottoms[0]->shape(), Factor(bottoms).shape(), param().scale_param().axis());
    Require(Bias() == nullptr || Bias()->shape() == Factor(bottoms).shape(), "the bias is ",
            Bias() == nullptr ? Shape() : Bias()->shape(), ", but the factor ",
            Factor(bottoms).shape());
    tops[0]->Resize(bottoms[0]->shape());
    kept_.Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const float* factor = Factor(bottoms).data().Read(context);
    const float* bias = Bias() == nullptr ? nullptr : Bias()->data().Read(context);
    // In place, x is gone when the factor's gradient needs it.
    const bool keep = tops[0] == bottoms[0] && (bottoms.size() > 1 || param_propagate(0));
    float* kept = keep ? kept_.Write(context) : nullptr;
    ForEachChannel(context, view_,
                   ScaleElement{x, factor, bias, kept, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const bool learned = bottoms.size() == 1;
    const float* dy = tops[0]->diff().Read(context);
    if (Bias() != nullptr && param_propagate(learned ? 1 : 0)) {
      SumChannels(context, view_, LoadElement{dy}, StoreGradient(context, Bias(), true));
    }
    if (learned ? param_propagate(0) : propagate[1]) {
      const Tensor& x = tops[0] == bottoms[0] ? kept_ : bottoms[0]->data();
      SumChannels(context, view_, LoadProduct{x.Read(context), dy},
                  StoreGradient(context, &Factor(bottoms), learned));
    }
    if (propagate[0]) {
      const float* factor = Factor(bottoms).data().Read(context);
      ForEachChannel(context, view_, ScaleGradient{dy, factor, bottoms[0]->diff().Write(context)});
    }
  }

 private:
  Blob& Factor(const BlobVector& bottoms) {
    return bottoms.size() == 1 ? param_blob(0) : *bottoms[1];
  }
  Blob* Bias() { return param().scale_param().bias_term() ? params().back().blob.get() : nullptr; }

  AxisView view_;
  Tensor kept_;
};

const RegisterLayer<ScaleLayer> kRegistration(
    LayerInfo("Scale")
        .Summary("multiplies by factors, a learned one for each channel or a second bottom")
        .Field("scale_param")
        .Bottoms(1, 2, "any shape, and the factors if they are not learned")
        .Tops(1, "the same shape")
        .InPlace());

}  // namespace
}  // namespace moka
