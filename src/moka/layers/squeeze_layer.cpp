#include <algorithm>

#include "moka/layers/registry.hpp"
#include "moka/layers/view_layer.hpp"

namespace moka {
namespace {

/// Removes axes of length 1: those named by `axis`, or all of them. After the Squeeze of Caffe
/// models that were converted from TensorFlow. Throws for an axis of another length.
class SqueezeLayer : public ViewLayer {
 public:
  using ViewLayer::ViewLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    std::vector<int> removed;
    for (int axis : param().squeeze_param().axis()) {
      removed.push_back(in.Axis(axis));
      Require(in[axis] == 1, "cannot remove axis ", axis, " of ", in, ": its length is ", in[axis]);
    }
    const bool all = removed.empty();
    std::vector<int64_t> dims;
    for (int axis = 0; axis < in.axes(); ++axis) {
      const bool remove =
          all ? in[axis] == 1 : std::count(removed.begin(), removed.end(), axis) > 0;
      if (!remove) dims.push_back(in[axis]);
    }
    tops[0]->Resize(Shape(dims));
  }
};

const RegisterLayer<SqueezeLayer> kRegistration(LayerInfo("Squeeze")
                                                    .Summary("removes axes of length 1")
                                                    .Field("squeeze_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same values with fewer axes"));

}  // namespace
}  // namespace moka
