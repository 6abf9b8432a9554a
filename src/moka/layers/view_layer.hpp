#pragma once

#include "moka/device/math.hpp"
#include "moka/layers/layer.hpp"

namespace moka {

/// A layer whose top is its bottom under another shape (Flatten, Reshape, Squeeze): data and
/// gradients share memory unless the net asks for a copy. A class that derives from it gives
/// `Reshape`.
class ViewLayer : public Layer {
 public:
  using Layer::Layer;

  bool SharesMemory() const override { return true; }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    View(context, bottoms[0]->data(), &tops[0]->data());
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (propagate[0]) View(context, tops[0]->diff(), &bottoms[0]->diff());
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  void View(Context& context, const Tensor& from, Tensor* to) const {
    if (&from == to) return;  // in place
    if (copies()) {
      const float* values = from.Read(context);
      Copy(context, from.count(), values, to->Write(context));
    } else {
      to->ShareWith(from);
    }
  }
};

}  // namespace moka
