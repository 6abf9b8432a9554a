#include "moka/layers/axis_slices.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Cuts its bottom along `axis` (or the older `slice_dim`): at the `slice_point`s, or into parts of
/// equal length. The opposite of Concat; follows Caffe's Slice. Throws for points that do not rise
/// within the axis, and for an axis that does not divide evenly.
class SliceLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector&, const BlobVector& tops) override {
    const SliceParameter& slice = param().slice_param();
    Require(!slice.has_axis() || !slice.has_slice_dim(),
            "has both axis and slice_dim: give one of them");
    Require(slice.slice_point_size() == 0 ||
                slice.slice_point_size() == static_cast<int>(tops.size()) - 1,
            "has ", slice.slice_point_size(), " slice_point(s) for ", tops.size(),
            " top(s): give one less than there are tops, or none");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const SliceParameter& slice = param().slice_param();
    const Shape& shape = bottoms[0]->shape();
    axis_ = shape.Axis(slice.has_slice_dim() ? static_cast<int>(slice.slice_dim()) : slice.axis());
    const int64_t length = shape[axis_], parts = static_cast<int64_t>(tops.size());
    Require(slice.slice_point_size() > 0 || length % parts == 0, "axis ", axis_, " of ", shape,
            " does not divide into ", parts, " equal parts");
    int64_t begin = 0;
    for (int64_t i = 0; i < parts; ++i) {
      int64_t end = length * (i + 1) / parts;
      if (slice.slice_point_size() > 0) {
        end = i + 1 < parts ? slice.slice_point(static_cast<int>(i)) : length;
      }
      Require(begin < end && end <= length, "slice_point ", i + 1 < parts ? end : begin,
              " leaves nothing of axis ", axis_, " of ", shape);
      tops[i]->Resize(shape.With(axis_, end - begin));
      begin = end;
    }
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    int64_t begin = 0;
    for (Blob* top : tops) {
      const AxisView part = AxisView::Of(top->shape(), axis_);
      CopyFromAxis(context, part, x, bottoms[0]->shape()[axis_], begin, top->data().Write(context));
      begin += part.axis;
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    float* dx = bottoms[0]->diff().Write(context);
    int64_t begin = 0;
    for (const Blob* top : tops) {
      const AxisView part = AxisView::Of(top->shape(), axis_);
      CopyIntoAxis(context, part, top->diff().Read(context), bottoms[0]->shape()[axis_], begin, dx);
      begin += part.axis;
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  int axis_ = 0;
};

const RegisterLayer<SliceLayer> kRegistration(LayerInfo("Slice")
                                                  .Summary("parts of a blob along an axis")
                                                  .Field("slice_param")
                                                  .Bottoms(1, "any shape")
                                                  .Tops(1, Arity::kAny, "the parts, in order"));

}  // namespace
}  // namespace moka
