#pragma once

#include "moka/layers/conv_passes.hpp"
#include "moka/layers/dnnl/dnnl_tools.hpp"

namespace moka {

/// The passes of ConvShape by oneDNN's convolution, in the formats that oneDNN likes best. Made for
/// one shape and one number of threads.
class DnnlConvolution {
 public:
  /// Whether oneDNN has a convolution of this kind.
  static bool Supports(const ConvShape& shape);

  /// Whether it is likely to be faster than the yardstick.
  static bool IsFast(const ConvShape& shape);

  /// Throws dnnl::error where oneDNN declines after all.
  DnnlConvolution(const Context& context, const ConvShape& shape, bool bias, bool training,
                  dnnl::algorithm algorithm);

  /// maps = W image + bias (where there is one).
  void ToMaps(Context& context, const Tensor& image, const Tensor& weights, const Tensor* bias,
              Tensor* maps) const;

  /// image = W^T maps.
  void ToImage(Context& context, const Tensor& maps, const Tensor& weights, Tensor* image) const;

  /// Adds to the gradients of weights and bias (where there is one).
  void ParamGradients(Context& context, const Tensor& image, const Tensor& maps, Tensor* weights,
                      Tensor* bias) const;

 private:
  /// A primitive with the formats that it chose.
  struct Pass {
    DnnlPrimitive primitive;
    dnnl::memory::desc image, maps, weights;
  };

  Pass forward_, backward_data_, backward_weights_;
};

}  // namespace moka
