#include "moka/device/math.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/resize.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// Bilinear resizing of images, corners on corners: N x C x H x W to N x C x h x w. First pad_beg
/// (above and left) and pad_end (below and right), 0 or less, cut the image; then its size becomes
/// height x width if given, else (size - 1) / shrink_factor + 1 and of that (size - 1) zoom_factor
/// + 1. As the Interp of DeepLab and PSPNet (Chen et al., 2015; Zhao et al., CVPR 2017). Throws for
/// other than 4 axes, for positive pads and for sizes that are not positive.
class InterpLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    Require(interp().pad_beg() <= 0 && interp().pad_end() <= 0,
            "has a positive pad_beg or pad_end: both only cut, and are 0 or less");
    Require(interp().has_height() == interp().has_width(),
            "has only one of height and width: give both, or neither");
    Require(interp().shrink_factor() >= 1, "has shrink_factor ", interp().shrink_factor(),
            ": it is at least 1");
    Require(interp().zoom_factor() >= 1, "has zoom_factor ", interp().zoom_factor(),
            ": it is at least 1");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() == 4, "resizes images, N x C x H x W, but bottom \"", bottoms[0]->name(),
            "\" has shape ", in);
    resizing_.planes = in[0] * in[1];
    resizing_.h = Fit(in, 2, interp().has_height(), interp().height());
    resizing_.w = Fit(in, 3, interp().has_width(), interp().width());
    resizing_.row_stride = in[3];
    resizing_.plane_stride = in[2] * in[3];
    tops[0]->Resize({in[0], in[1], resizing_.h.out, resizing_.w.out});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    ResizeForward(context, resizing_, x + Begin(), tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    const bool cut = interp().pad_beg() != 0 || interp().pad_end() != 0;
    if (cut) Fill(context, bottoms[0]->count(), 0, dx);
    ResizeBackward(context, resizing_, dy, dx + Begin());
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    return 8 * tops[0]->count();
  }

 private:
  const InterpParameter& interp() const { return param().interp_param(); }

  /// Where the images begin after cutting.
  int64_t Begin() const { return -interp().pad_beg() * (resizing_.row_stride + 1); }

  ResizeAxis Fit(const Shape& in, int axis, bool given, int64_t size) const {
    const int64_t cut = in[axis] + interp().pad_beg() + interp().pad_end();
    Require(cut > 0, "cuts all of axis ", axis, " of ", in);
    const int64_t shrunk = (cut - 1) / interp().shrink_factor() + 1;
    const int64_t out = given ? size : (shrunk - 1) * interp().zoom_factor() + 1;
    Require(out > 0, "has an output of length ", out, " along axis ", axis);
    return ResizeAxis::AlignedCorners(cut, out);
  }

  Resizing resizing_;
};

const RegisterLayer<InterpLayer> kRegistration(LayerInfo("Interp")
                                                   .Summary("bilinear resizing of images")
                                                   .Field("interp_param")
                                                   .Bottoms(1, "N x C x H x W")
                                                   .Tops(1, "N x C x h x w"));

}  // namespace
}  // namespace moka
