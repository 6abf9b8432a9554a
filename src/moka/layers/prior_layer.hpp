#pragma once

#include <vector>

#include "moka/layers/layer.hpp"

namespace moka {

/// Width and height of a box in pixels of the picture.
struct BoxSize {
  float width, height;
};

/// Boxes of the same sizes around each place of a feature map: for place (h, w), in row-major
/// order, and each size in turn the box with its centre at ((w + offset) * step_w, (h + offset) *
/// step_h) pixels, divided by the picture's width and height; cut at 0 and 1 with `clip`.
///
/// Bottoms: the feature map and the picture, N x C x H x W each, of which only the shapes matter.
/// Top: 1 x 2 x 4P, boxes (xmin, ymin, xmax, ymax) and then their variances, which follow from the
/// fields alone. Steps default to the picture's size over the feature map's. Throws Error for
/// bottoms of other shapes, variances that are not positive or neither 0, 1 nor 4 in number, and
/// fields that contradict each other.
class PriorLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override;
  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;
  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 protected:
  virtual std::vector<BoxSize> BoxSizes() const = 0;
  const PriorBoxParameter& prior() const { return param().prior_box_param(); }

 private:
  void SetVariance();

  Tensor sizes_;  // a row of width and height each
  float variance_[4];
};

}  // namespace moka
