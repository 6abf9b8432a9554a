#include "moka/device/for_each.hpp"
#include "moka/layers/axis_slices.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Bottoms one behind the other along `axis` (or the older `concat_dim`); all other axes agree.
/// Follows Caffe's Concat. Throws for shapes that do not fit.
class ConcatLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const ConcatParameter& concat = param().concat_param();
    Require(!concat.has_axis() || !concat.has_concat_dim(),
            "has both axis and concat_dim: give one of them");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const ConcatParameter& concat = param().concat_param();
    const Shape& first = bottoms[0]->shape();
    axis_ =
        first.Axis(concat.has_concat_dim() ? static_cast<int>(concat.concat_dim()) : concat.axis());
    int64_t length = 0;
    for (const Blob* bottom : bottoms) {
      const Shape& shape = bottom->shape();
      Require(shape.axes() == first.axes() && shape.With(axis_, 0) == first.With(axis_, 0),
              "bottoms \"", bottoms[0]->name(), "\" (", first, ") and \"", bottom->name(), "\" (",
              shape, ") differ on more than axis ", axis_, ", along which they are joined");
      length += shape[axis_];
    }
    tops[0]->Resize(first.With(axis_, length));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    int64_t begin = 0;
    float* y = tops[0]->data().Write(context);
    for (const Blob* bottom : bottoms) {
      const AxisView part = AxisView::Of(bottom->shape(), axis_);
      CopyIntoAxis(context, part, bottom->data().Read(context), tops[0]->shape()[axis_], begin, y);
      begin += part.axis;
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    int64_t begin = 0;
    const float* dy = tops[0]->diff().Read(context);
    for (size_t i = 0; i < bottoms.size(); ++i) {
      const AxisView part = AxisView::Of(bottoms[i]->shape(), axis_);
      if (propagate[i]) {
        CopyFromAxis(context, part, dy, tops[0]->shape()[axis_], begin,
                     bottoms[i]->diff().Write(context));
      }
      begin += part.axis;
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  int axis_ = 0;
};

const RegisterLayer<ConcatLayer> kRegistration(
    LayerInfo("Concat")
        .Summary("bottoms one behind the other along an axis")
        .Field("concat_param")
        .Bottoms(1, Arity::kAny, "blobs that agree on all axes but one")
        .Tops(1, "the bottoms joined along the axis"));

}  // namespace
}  // namespace moka
