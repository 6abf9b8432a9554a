#include "moka/layers/elementwise.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct ClipFunction {
  float min = 0, max = 0;
  MOKA_HD float Value(float x) const { return x < min ? min : (x > max ? max : x); }
  MOKA_HD float Gradient(float dy, float x, float) const {
    return x >= min && x <= max ? dy : 0.0f;
  }
};

/// y = x within [min, max], else the nearer bound. The gradient passes within and at the bounds; in
/// place it passes everywhere, as in Caffe, because the values then lie within. Any shape. Follows
/// Caffe's Clip. Throws for a min above max.
class ClipLayer : public ElementwiseLayer<ClipFunction> {
 public:
  using ElementwiseLayer::ElementwiseLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const ClipParameter& clip = param().clip_param();
    Require(clip.has_min() && clip.has_max(), "needs clip_param.min and clip_param.max");
    Require(clip.min() <= clip.max(), "has min ", clip.min(), " above max ", clip.max());
    function_ = {clip.min(), clip.max()};
  }
};

const RegisterLayer<ClipLayer> kRegistration(LayerInfo("Clip")
                                                 .Summary("x, at least min and at most max")
                                                 .Field("clip_param")
                                                 .Bottoms(1, "any shape")
                                                 .Tops(1, "the same shape")
                                                 .InPlace());

}  // namespace
}  // namespace moka
