#pragma once

#include "moka/layers/dnnl/dnnl_tools.hpp"
#include "moka/layers/pooling.hpp"

namespace moka {

/// Pooling by oneDNN of images in one of its formats, N x C x H x W. Made for one shape and format.
class DnnlPooling {
 public:
  enum class Method { kMax, kAverage, kAverageOfInput };

  /// Whether oneDNN's rule for windows at the edges is the yardstick's for this pooling.
  static bool Supports(const PoolPlanes& pool, Method method);

  /// Throws dnnl::error where oneDNN declines after all.
  DnnlPooling(const Context& context, const PoolPlanes& pool, Method method,
              const dnnl::memory::desc& image, bool training);

  const dnnl::memory::desc& image() const { return image_; }

  void Forward(Context& context, const Tensor& x, Tensor* y);
  void Backward(Context& context, const Tensor& dy, Tensor* dx);

 private:
  dnnl::memory::desc image_, pooled_, places_desc_;
  DnnlPrimitive forward_, backward_;
  Tensor places_;  // of the maxima, in oneDNN's form
};

}  // namespace moka
