#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Takes blobs that nothing else reads, so that they are not outputs of the net; their gradients
/// are zero. Any shapes. Follows Caffe's Silence.
class SilenceLayer : public Layer {
 public:
  using Layer::Layer;
  void Reshape(const BlobVector&, const BlobVector&) override {}
  void Forward(Context&, const BlobVector&, const BlobVector&) override {}
  void Backward(Context&, const BlobVector&, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    for (size_t i = 0; i < bottoms.size(); ++i) {
      if (propagate[i]) bottoms[i]->diff().SetZero();
    }
  }
};

const RegisterLayer<SilenceLayer> kRegistration(LayerInfo("Silence")
                                                    .Summary("takes blobs that nothing else reads")
                                                    .Bottoms(1, Arity::kAny, "any shapes")
                                                    .Tops(0, "none"));

}  // namespace
}  // namespace moka
