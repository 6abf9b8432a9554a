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
    const auto layout = JoinedLayout(context, bottoms);
    auto* y = static_cast<float*>(tops[0]->data().WriteAs(context, layout));
    int64_t begin = 0;
    for (const Blob* bottom : bottoms) {
      const AxisView part = AxisView::Of(bottom->shape(), axis_);
      const void* x = bottom->data().ReadAs(context, PartLayout(layout, part.axis));
      CopyIntoAxis(context, part, static_cast<const float*>(x), tops[0]->shape()[axis_], begin, y);
      begin += part.axis;
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    auto layout = tops[0]->diff().ForeignLayout(context);
    for (const Blob* bottom : bottoms) {
      if (PartLayout(layout, bottom->shape()[axis_]) == nullptr) layout = nullptr;
    }
    const auto* dy = static_cast<const float*>(tops[0]->diff().ReadAs(context, layout));
    int64_t begin = 0;
    for (size_t i = 0; i < bottoms.size(); ++i) {
      const AxisView part = AxisView::Of(bottoms[i]->shape(), axis_);
      if (propagate[i]) {
        void* dx = bottoms[i]->diff().WriteAs(context, PartLayout(layout, part.axis));
        CopyFromAxis(context, part, dy, tops[0]->shape()[axis_], begin, static_cast<float*>(dx));
      }
      begin += part.axis;
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  using LayoutPtr = std::shared_ptr<const Layout>;

  LayoutPtr PartLayout(const LayoutPtr& layout, int64_t length) const {
    return layout == nullptr ? nullptr : layout->WithLength(axis_, length);
  }

  /// The foreign layout that all bottoms have, for the top. Null: plain.
  LayoutPtr JoinedLayout(Context& context, const BlobVector& bottoms) const {
    LayoutPtr joined = bottoms[0]->data().ForeignLayout(context);
    int64_t length = 0;
    for (const Blob* bottom : bottoms) {
      const LayoutPtr part = PartLayout(joined, bottom->shape()[axis_]);
      const LayoutPtr own = bottom->data().ForeignLayout(context);
      if (part == nullptr || own == nullptr || !own->Equals(*part)) return nullptr;
      length += bottom->shape()[axis_];
    }
    return PartLayout(joined, length);
  }

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
