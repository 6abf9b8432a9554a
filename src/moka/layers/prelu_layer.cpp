#include "moka/base/error.hpp"
#include "moka/layers/broadcast.hpp"
#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct PReluElement {
  const float* x;
  const float* slope;
  float* kept;  // null if x need not be kept
  float* y;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    const float value = x[i];
    if (kept != nullptr) kept[i] = value;
    y[i] = value > 0 ? value : slope[channel] * value;
  }
};

// The kink at 0 has the slope of the negative side.
struct PReluGradient {
  const float* x;
  const float* dy;
  const float* slope;
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    dx[i] = x[i] > 0 ? dy[i] : slope[channel] * dy[i];
  }
};

struct SlopeGradient {
  const float* x;
  const float* dy;
  MOKA_HD float operator()(int64_t, int64_t i) const { return x[i] > 0 ? 0.0f : x[i] * dy[i]; }
};

/// y = x above 0 and slope * x below, with a learned slope for each channel, or a single one with
/// channel_shared; 0.25 at first unless `filler` says otherwise.
///
/// Bottom N x C x ... with at least two axes. He et al. (ICCV 2015); follows Caffe's PReLU.
class PReLULayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const PReLUParameter& prelu = param().prelu_param();
    const Shape& shape = bottoms[0]->shape();
    Require(shape.axes() > 1, "needs a bottom with channels, N x C x ..., not ", shape);
    FillerParameter filler = prelu.filler();
    if (!prelu.has_filler()) filler.set_value(0.25f);
    AddParam(OperandShape(shape, 1, prelu.channel_shared() ? 0 : 1), filler);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    SameShapeLayer::Reshape(bottoms, tops);
    view_ = OperandView(bottoms[0]->shape(), param_blob(0).shape(), 1);
    kept_.Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    const float* slope = param_blob(0).data().Read(context);
    float* kept = tops[0] == bottoms[0] ? kept_.Write(context) : nullptr;
    ForEachChannel(context, view_, PReluElement{x, slope, kept, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const float* x = (tops[0] == bottoms[0] ? kept_ : bottoms[0]->data()).Read(context);
    const float* dy = tops[0]->diff().Read(context);
    if (param_propagate(0)) {
      SumChannels(context, view_, SlopeGradient{x, dy},
                  StoreGradient(context, &param_blob(0), true));
    }
    if (propagate[0]) {
      const float* slope = param_blob(0).data().Read(context);
      ForEachChannel(context, view_,
                     PReluGradient{x, dy, slope, bottoms[0]->diff().Write(context)});
    }
  }

 private:
  AxisView view_;
  Tensor kept_;  // x, where the top takes its place
};

const RegisterLayer<PReLULayer> kRegistration(LayerInfo("PReLU")
                                                  .Summary("rectifier with a learned slope below 0")
                                                  .Field("prelu_param")
                                                  .Bottoms(1, "N x C x ...")
                                                  .Tops(1, "the same shape")
                                                  .InPlace());

}  // namespace
}  // namespace moka
