#include <algorithm>

#include "moka/layers/registry.hpp"
#include "moka/layers/strided_copy.hpp"

namespace moka {
namespace {

/// Axes in another order: axis i of the top is axis order[i] of the bottom; axes that `order`
/// leaves out follow in their own order. Follows the SSD fork's Permute. Throws for an axis that is
/// not there or is given twice.
class PermuteLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    std::vector<int> order;
    for (uint32_t axis : param().permute_param().order()) {
      Require(axis < static_cast<uint32_t>(in.axes()), "order names axis ", axis,
              " of a blob with ", in.axes(), " axes (", in, ")");
      Require(std::count(order.begin(), order.end(), axis) == 0, "order names axis ", axis,
              " twice");
      order.push_back(static_cast<int>(axis));
    }
    for (int axis = 0; axis < in.axes(); ++axis) {
      if (std::count(order.begin(), order.end(), axis) == 0) order.push_back(axis);
    }
    const std::vector<int64_t> strides = StridesOf(in);
    std::vector<int64_t> dims;
    part_.strides.clear();
    for (int axis : order) {
      dims.push_back(in[axis]);
      part_.strides.push_back(strides[axis]);
    }
    part_.shape = Shape(dims);
    tops[0]->Resize(part_.shape);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    CopyFromPart(context, part_, x, tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    CopyIntoPart(context, part_, dy, bottoms[0]->diff().Write(context));
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  StridedPart part_;  // the top, as it lies in the bottom
};

const RegisterLayer<PermuteLayer> kRegistration(LayerInfo("Permute")
                                                    .Summary("axes in another order")
                                                    .Field("permute_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same values, axes permuted"));

}  // namespace
}  // namespace moka
