#include "moka/layers/registry.hpp"
#include "moka/layers/strided_copy.hpp"

namespace moka {
namespace {

/// Moves blocks of stride x stride pixels into channels as darknet does: with C, H, W of the bottom
/// and s = stride, its memory is read as C/s^2 x Hs x Ws, and value (k, j, i) of a C x H x W array
/// is (k % (C/s^2), j s + d / s, i s + d % s) of that with d = k / (C/s^2). The top has that memory
/// and the shape N x C s^2 x H/s x W/s. (Within a picture the order so differs from that of
/// SpaceToDepth, and `reverse` is not its inverse; models of YOLO v2 are trained with it.)
///
/// With reverse, the top is N x C/s^2 x Hs x Ws, its value at the latter place the bottom's (k, j,
/// i). Redmon and Farhadi, YOLO9000 (2017). Throws where s does not divide H and W, or s^2 not C.
class ReorgLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() == 4, "moves pixels of images, N x C x H x W, but bottom \"",
            bottoms[0]->name(), "\" has shape ", in);
    const int64_t s = param().reorg_param().stride(), c = in[1], h = in[2], w = in[3];
    Require(s > 0, "has stride 0");
    Require(c % (s * s) == 0, "needs a multiple of stride^2 = ", s * s, " channels, but bottom \"",
            bottoms[0]->name(), "\" has shape ", in);
    if (reverse()) {
      tops[0]->Resize({in[0], c / (s * s), h * s, w * s});
    } else {
      Require(h % s == 0 && w % s == 0, "needs sides that are multiples of stride ", s,
              ", but bottom \"", bottoms[0]->name(), "\" has shape ", in);
      tops[0]->Resize({in[0], c * s * s, h / s, w / s});
    }
    blocks_.shape = Shape{in[0], s, s, c / (s * s), h, w};
    blocks_.strides = {c * h * w, w * s, 1, h * s * w * s, s * w * s, s};
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    Move(context, reverse(), x, tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    Move(context, !reverse(), dy, bottoms[0]->diff().Write(context));
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  bool reverse() const { return param().reorg_param().reverse(); }

  void Move(Context& context, bool into_blocks, const float* from, float* to) const {
    if (into_blocks) {
      CopyIntoPart(context, blocks_, from, to);
    } else {
      CopyFromPart(context, blocks_, from, to);
    }
  }

  StridedPart
      blocks_;  // a C x H x W array in the order (d, k % (C/s^2), j, i), as it lies in blocks
};

const RegisterLayer<ReorgLayer> kRegistration(
    LayerInfo("Reorg")
        .Summary("blocks of pixels into channels, in darknet's order (YOLO v2)")
        .Field("reorg_param")
        .Bottoms(1, "images, N x C x H x W")
        .Tops(1, "N x C s^2 x H/s x W/s; with reverse, N x C/s^2 x H s x W s"));

}  // namespace
}  // namespace moka
