#pragma once

#include "moka/device/math.hpp"
#include "moka/layers/elementwise.hpp"

namespace moka {

/// An ElementwiseLayer whose gradient depends on x beyond what y tells: in place, it keeps a copy
/// of x for Backward.
template <typename Function>
class KeptInputLayer : public ElementwiseLayer<Function> {
 public:
  using ElementwiseLayer<Function>::ElementwiseLayer;

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    if (tops[0] == bottoms[0] && NeedsInput()) {
      const float* x = bottoms[0]->data().Read(context);
      kept_.Resize(bottoms[0]->shape());
      Copy(context, kept_.count(), x, kept_.Write(context));
    }
    ElementwiseLayer<Function>::Forward(context, bottoms, tops);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const bool kept = tops[0] == bottoms[0] && NeedsInput();
    const float* x = (kept ? kept_ : bottoms[0]->data()).Read(context);
    const float* y = tops[0]->data().Read(context);
    const float* dy = tops[0]->diff().Read(context);
    ForEach(context, bottoms[0]->count(),
            ElementwiseBackward<Function>{this->function_, x, y, dy,
                                          bottoms[0]->diff().Write(context)});
  }

 protected:
  virtual bool NeedsInput() const { return true; }

 private:
  Tensor kept_;
};

}  // namespace moka
