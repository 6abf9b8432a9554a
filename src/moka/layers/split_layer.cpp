#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct AddPair {
  const float* a;
  const float* b;
  float* sum;
  MOKA_HD void operator()(int64_t i) const { sum[i] = a[i] + b[i]; }
};

/// Hands its bottom to several readers. The tops share the bottom's memory; the bottom's gradient
/// is the sum of theirs. The net puts it where a blob has more than one reader.
class SplitLayer : public Layer {
 public:
  using Layer::Layer;

  bool SharesMemory() const override { return true; }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    for (Blob* top : tops) top->Resize(bottoms[0]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    for (Blob* top : tops) {
      if (copies()) {
        const float* from = bottoms[0]->data().Read(context);
        Copy(context, top->count(), from, top->data().Write(context));
      } else {
        top->data().ShareWith(bottoms[0]->data());
      }
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    std::vector<const float*> gradients;
    for (const Blob* top : tops) {
      if (!top->diff().is_zero()) gradients.push_back(top->diff().Read(context));
    }
    Tensor& sum = bottoms[0]->diff();
    if (gradients.empty()) {
      sum.SetZero();
    } else if (gradients.size() == 1) {
      Copy(context, sum.count(), gradients[0], sum.Write(context));
    } else {
      float* out = sum.Write(context);
      ForEach(context, sum.count(), AddPair{gradients[0], gradients[1], out});
      for (size_t i = 2; i < gradients.size(); ++i) {
        ForEach(context, sum.count(), AddPair{gradients[i], out, out});
      }
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }
};

const RegisterLayer<SplitLayer> kRegistration(LayerInfo("Split")
                                                  .Summary("hands a blob to several readers")
                                                  .Bottoms(1, "any shape")
                                                  .Tops(1, Arity::kAny, "the same, once a reader"));

}  // namespace
}  // namespace moka
