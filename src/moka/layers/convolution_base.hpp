#pragma once

#include "moka/layers/conv_passes.hpp"
#include "moka/layers/layer.hpp"

namespace moka {

/// What Convolution and Deconvolution share: every bottom goes through the same weights to the top
/// of its number. The one maps an image to maps, the other maps to an image (see ConvShape).
class ConvolutionBase : public Layer {
 public:
  enum class Direction { kToMaps, kToImage };

  ConvolutionBase(const LayerParameter& param, Direction direction)
      : Layer(param), direction_(direction) {}

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override;
  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;
  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override;
  int64_t Operations(const BlobVector& bottoms, const BlobVector& tops) const override;

 protected:
  bool has_bias() const { return param().convolution_param().bias_term(); }
  const ConvShape& shape() const { return shape_; }
  void ParamGradients(Context& context, const Blob& top, const Blob& bottom);

 private:
  bool to_maps() const { return direction_ == Direction::kToMaps; }
  int64_t num_output() const { return param().convolution_param().num_output(); }
  void CheckBottoms(const BlobVector& bottoms) const;

  Direction direction_;
  int64_t channels_ = 0;  // of a bottom
  ConvShape shape_;
};

}  // namespace moka
