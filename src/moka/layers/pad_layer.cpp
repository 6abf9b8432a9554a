#include "moka/device/math.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/strided_copy.hpp"

namespace moka {
namespace {

/// Zeros around images: N x C x H x W becomes N x C x (pad_t + H + pad_b) x (pad_l + W + pad_r).
/// `pad` is for all sides, pad_h and pad_w for two each. Throws for other than 4 axes, and for
/// more than one way of saying it.
class PadLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const PadParameter& pad = param().pad_param();
    const bool axes = pad.has_pad_h() || pad.has_pad_w();
    const bool sides = pad.has_pad_l() || pad.has_pad_r() || pad.has_pad_t() || pad.has_pad_b();
    Require(pad.has_pad() + axes + sides <= 1,
            "has more than one of pad, pad_h and pad_w, and pad_l, pad_r, pad_t and pad_b");
    const int64_t height = pad.has_pad() ? pad.pad() : pad.pad_h();
    const int64_t width = pad.has_pad() ? pad.pad() : pad.pad_w();
    top_ = sides ? pad.pad_t() : height;
    bottom_ = sides ? pad.pad_b() : height;
    left_ = sides ? pad.pad_l() : width;
    right_ = sides ? pad.pad_r() : width;
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() == 4, "pads images, N x C x H x W, but bottom \"", bottoms[0]->name(),
            "\" has shape ", in);
    const Shape out{in[0], in[1], top_ + in[2] + bottom_, left_ + in[3] + right_};
    tops[0]->Resize(out);
    inside_ = {in, StridesOf(out), top_ * out[3] + left_};
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    float* y = tops[0]->data().Write(context);
    Fill(context, tops[0]->count(), 0, y);
    CopyIntoPart(context, inside_, x, y);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    CopyFromPart(context, inside_, dy, bottoms[0]->diff().Write(context));
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  int64_t top_ = 0, bottom_ = 0, left_ = 0, right_ = 0;
  StridedPart inside_;  // the bottom, as it lies in the top
};

const RegisterLayer<PadLayer> kRegistration(LayerInfo("Pad")
                                                .Summary("zeros around images")
                                                .Field("pad_param")
                                                .Bottoms(1, "N x C x H x W")
                                                .Tops(1, "larger images"));

}  // namespace
}  // namespace moka
