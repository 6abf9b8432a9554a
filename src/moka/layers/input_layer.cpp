#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Blobs that the caller fills: one shape for all tops, or one for each. A top without any shape
/// keeps the one the caller gives. Follows Caffe's Input. Throws for a shape without elements.
class InputLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector& tops) override {
    const int shapes = param().input_param().shape_size();
    Require(shapes <= 1 || shapes == static_cast<int>(tops.size()), "has ", shapes, " shapes for ",
            tops.size(), " top(s): give one for all, or one for each");
    for (int i = 0; i < static_cast<int>(tops.size()) && shapes > 0; ++i) {
      const BlobShape& dims = param().input_param().shape(shapes == 1 ? 0 : i);
      const Shape shape(std::vector<int64_t>(dims.dim().begin(), dims.dim().end()));
      for (int64_t length : shape.dims()) {
        Require(length > 0, "has the shape ", shape, ": every axis needs at least one element");
      }
      tops[i]->Resize(shape);
    }
  }

  void Reshape(const BlobVector&, const BlobVector&) override {}
  void Forward(Context&, const BlobVector&, const BlobVector&) override {}
  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }
};

const RegisterLayer<InputLayer> kRegistration(
    LayerInfo("Input")
        .Summary("blobs that the caller fills, for deployed nets")
        .Field("input_param")
        .Bottoms(0, "none")
        .Tops(1, Arity::kAny, "the inputs, shaped as stated"));

}  // namespace
}  // namespace moka
