#include "moka/device/math.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/strided_copy.hpp"

namespace moka {
namespace {

/// The part of bottom 0 that has, from `axis` on, the size of bottom 1; it begins at `offset` (one
/// for all cut axes, or one each). Only the shape of bottom 1 matters: its gradient is zero.
/// Follows Caffe's Crop. Throws where the part does not fit into bottom 0.
class CropLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const CropParameter& crop = param().crop_param();
    const Shape& in = bottoms[0]->shape();
    const Shape& reference = bottoms[1]->shape();
    const int first = in.Axis(crop.axis()), cut = in.axes() - first, offsets = crop.offset_size();
    Require(reference.axes() == in.axes(), "bottoms \"", bottoms[0]->name(), "\" (", in, ") and \"",
            bottoms[1]->name(), "\" (", reference, ") need the same number of axes");
    Require(offsets <= 1 || offsets == cut, "has ", offsets, " offset(s) for ", cut,
            " axes that are cut: give one for all, or one for each");
    part_.strides = StridesOf(in);
    part_.shape = in;
    part_.offset = 0;
    for (int axis = first; axis < in.axes(); ++axis) {
      const int64_t offset = offsets == 0 ? 0 : crop.offset(offsets == 1 ? 0 : axis - first);
      Require(offset + reference[axis] <= in[axis], "cuts ", reference[axis], " values from ",
              offset, " on out of axis ", axis, " of \"", bottoms[0]->name(), "\" (", in,
              "), which has ", in[axis]);
      part_.shape = part_.shape.With(axis, reference[axis]);
      part_.offset += offset * part_.strides[axis];
    }
    tops[0]->Resize(part_.shape);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    CopyFromPart(context, part_, x, tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (propagate[1]) bottoms[1]->diff().SetZero();
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    Fill(context, bottoms[0]->count(), 0, dx);
    CopyIntoPart(context, part_, dy, dx);
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  StridedPart part_;  // the top, as it lies in bottom 0
};

const RegisterLayer<CropLayer> kRegistration(
    LayerInfo("Crop")
        .Summary("a part of a blob that has the size of another")
        .Field("crop_param")
        .Bottoms(2, "what is cut; a blob of the size to cut it to")
        .Tops(1, "the part: axes before `axis` of bottom 0, then those of bottom 1"));

}  // namespace
}  // namespace moka
