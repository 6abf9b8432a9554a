#include <algorithm>

#include "moka/layers/rearrange_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Axes in another order: axis i of the top is axis dim[i] of the bottom. Negative numbers count
/// from the last axis. As the Transpose of OCR and Intel forks. Throws unless each axis is named
/// once.
class TransposeLayer : public RearrangeLayer {
 public:
  using RearrangeLayer::RearrangeLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    std::vector<int> order;
    for (int dim : param().transpose_param().dim()) {
      const int axis = in.Axis(dim);
      Require(std::count(order.begin(), order.end(), axis) == 0, "dim names axis ", dim, " twice");
      order.push_back(axis);
    }
    Require(static_cast<int>(order.size()) == in.axes(), "transpose_param has ", order.size(),
            " dim for the ", in.axes(), " axes of ", in, ": name each axis once");
    Rearrange(in, order, tops[0]);
  }
};

const RegisterLayer<TransposeLayer> kRegistration(LayerInfo("Transpose")
                                                      .Summary("axes in another order")
                                                      .Field("transpose_param")
                                                      .Bottoms(1, "any shape")
                                                      .Tops(1, "the same values, axes permuted"));

}  // namespace
}  // namespace moka
