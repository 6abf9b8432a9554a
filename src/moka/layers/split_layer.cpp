#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/registry.hpp"
#include "moka/tensor/elements.hpp"

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
    std::vector<const Tensor*> gradients;
    for (const Blob* top : tops) {
      if (!top->diff().is_zero()) gradients.push_back(&top->diff());
    }
    Tensor& sum = bottoms[0]->diff();
    if (gradients.empty()) {
      sum.SetZero();
    } else {
      Add(context, gradients, &sum);
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  static void Add(Context& context, const std::vector<const Tensor*>& gradients, Tensor* sum) {
    const Elements elements(context, true, {gradients.front(), gradients.back()});
    const int64_t n = elements.count();
    const float* first = elements.Read(*gradients[0]);
    if (gradients.size() == 1) return Copy(context, n, first, elements.Write(sum));
    const float* second = elements.Read(*gradients[1]);
    float* out = elements.Write(sum);
    ForEach(context, n, AddPair{first, second, out});
    for (size_t i = 2; i < gradients.size(); ++i) {
      ForEach(context, n, AddPair{elements.Read(*gradients[i]), out, out});
    }
  }
};

const RegisterLayer<SplitLayer> kRegistration(LayerInfo("Split")
                                                  .Summary("hands a blob to several readers")
                                                  .Bottoms(1, "any shape")
                                                  .Tops(1, Arity::kAny, "the same, once a reader"));

}  // namespace
}  // namespace moka
