#include <algorithm>

#include "moka/layers/rearrange_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Axes in another order: axis i of the top is axis order[i] of the bottom; axes that `order`
/// leaves out follow in their own order. Follows the SSD fork's Permute. Throws for an axis that is
/// not there or is given twice.
class PermuteLayer : public RearrangeLayer {
 public:
  using RearrangeLayer::RearrangeLayer;

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
    Rearrange(in, order, tops[0]);
  }
};

const RegisterLayer<PermuteLayer> kRegistration(LayerInfo("Permute")
                                                    .Summary("axes in another order")
                                                    .Field("permute_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same values, axes permuted"));

}  // namespace
}  // namespace moka
