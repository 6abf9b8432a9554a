#include "moka/layers/registry.hpp"
#include "moka/layers/view_layer.hpp"

namespace moka {
namespace {

/// Axes `axis` to `end_axis`, inclusive, become one: N x C x H x W turns into N x CHW by default.
/// Follows Caffe's Flatten. Throws for axes that are not there.
class FlattenLayer : public ViewLayer {
 public:
  using ViewLayer::ViewLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    const int first = in.Axis(param().flatten_param().axis());
    const int last = in.Axis(param().flatten_param().end_axis());
    Require(first <= last, "flattens axes ", first, " to ", last, ": end_axis lies before axis");
    std::vector<int64_t> dims(in.dims().begin(), in.dims().begin() + first);
    dims.push_back(in.Count(first, last + 1));
    dims.insert(dims.end(), in.dims().begin() + last + 1, in.dims().end());
    tops[0]->Resize(Shape(dims));
  }
};

const RegisterLayer<FlattenLayer> kRegistration(LayerInfo("Flatten")
                                                    .Summary("several axes as one")
                                                    .Field("flatten_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same values with fewer axes"));

}  // namespace
}  // namespace moka
