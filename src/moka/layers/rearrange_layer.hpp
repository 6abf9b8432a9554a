#pragma once

#include "moka/layers/layer.hpp"
#include "moka/layers/strided_copy.hpp"

namespace moka {

/// A layer whose top has every value of its bottom once, in another order (Permute, Transpose,
/// ShuffleChannel). A class that derives from it calls `Rearrange` in Reshape.
class RearrangeLayer : public Layer {
 public:
  using Layer::Layer;

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    CopyFromPart(context, part_, x, tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    CopyIntoPart(context, part_, dy, bottoms[0]->diff().Write(context));
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 protected:
  /// The bottom seen with shape `view`: its axes in the order of `order` are the top's values.
  /// Gives the top the shape that results.
  void Rearrange(const Shape& view, const std::vector<int>& order, Blob* top) {
    const std::vector<int64_t> strides = StridesOf(view);
    std::vector<int64_t> dims;
    part_ = StridedPart();
    for (int axis : order) {
      dims.push_back(view[axis]);
      part_.strides.push_back(strides[axis]);
    }
    part_.shape = Shape(dims);
    top->Resize(part_.shape);
  }

 private:
  StridedPart part_;  // the top, as it lies in the bottom
};

}  // namespace moka
