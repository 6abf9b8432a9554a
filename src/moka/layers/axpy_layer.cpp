#include "moka/device/math.hpp"
#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct ScaleAndAdd {
  const float* factor;
  const float* x;
  const float* y;
  float* out;
  MOKA_HD void operator()(int64_t channel, int64_t i) const {
    out[i] = factor[channel] * x[i] + y[i];
  }
};

struct ScaleBy {
  const float* factor;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t channel, int64_t i) const { dx[i] = factor[channel] * dy[i]; }
};

/// top = a x + y with a factor for each channel of each item. Bottoms: a (N x C, or N x C x 1 x 1),
/// x and y (both N x C x H x W). The end of a block with squeeze and excitation (Hu et al., CVPR
/// 2018). Throws for shapes that do not fit.
class AxpyLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& factor = bottoms[0]->shape();
    const Shape& x = bottoms[1]->shape();
    Require(bottoms[2]->shape() == x, "adds bottoms \"", bottoms[1]->name(), "\" (", x, ") and \"",
            bottoms[2]->name(), "\" (", bottoms[2]->shape(), "): they need the same shape");
    Require(factor.axes() >= 2 && x.axes() >= 2 && factor.Slice(0, 2) == x.Slice(0, 2) &&
                factor.Count(2) == 1,
            "bottom \"", bottoms[0]->name(), "\" (", factor, ") must have one factor for each of ",
            "the channels of ", x);
    view_ = {1, x.Count(0, 2), x.Count(2)};
    tops[0]->Resize(x);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* factor = bottoms[0]->data().Read(context);
    const float* x = bottoms[1]->data().Read(context);
    const float* y = bottoms[2]->data().Read(context);
    ForEachChannel(context, view_, ScaleAndAdd{factor, x, y, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const float* dy = tops[0]->diff().Read(context);
    if (propagate[0]) {
      const float* x = bottoms[1]->data().Read(context);
      SumChannels(context, view_, LoadProduct{x, dy},
                  StoreScaled{bottoms[0]->diff().Write(context), 1, 0});
    }
    if (propagate[1]) {
      const float* factor = bottoms[0]->data().Read(context);
      ForEachChannel(context, view_, ScaleBy{factor, dy, bottoms[1]->diff().Write(context)});
    }
    if (propagate[2]) Copy(context, tops[0]->count(), dy, bottoms[2]->diff().Write(context));
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    return 2 * tops[0]->count();
  }

 private:
  AxisView view_;
};

const RegisterLayer<AxpyLayer> kRegistration(
    LayerInfo("Axpy")
        .Summary("a x + y with a factor for each channel of each item")
        .Bottoms(3, "factors N x C (x 1 x 1), x and y: N x C x H x W")
        .Tops(1, "as x"));

}  // namespace
}  // namespace moka
