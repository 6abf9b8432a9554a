#pragma once

#include "moka/layers/layer.hpp"
#include "moka/layers/pooling.hpp"

namespace moka {

/// Reduces windows of each channel to one value: the largest (MAX), the mean (AVE), or a value
/// drawn in proportion to its size (STOCHASTIC; on average when testing).
///
/// N x C x H x W becomes N x C x h x w with h = ceil((H + 2 pad - kernel) / stride) + 1, or floor
/// with round_mode FLOOR (ceil_mode: false or torch_pooling: true in forks); with padding, a last
/// window that would begin beyond the input and its left padding is dropped. AVE divides by the
/// window clipped to the padded input, AVE_EXC_PAD (AVE_TF) by that clipped to the input. Of equal
/// largest values the first in row-major order is taken; a window without inputs gives -FLT_MAX. A
/// second top of MAX gets the place of the maximum, h * W + w in its plane. pad_l, pad_r, pad_t and
/// pad_b (of forks) pad each side by itself. Follows Caffe's Pooling.
///
/// Throws for other than 4 axes, contradicting fields, padding not smaller than the kernel, and a
/// kernel that does not fit.
class PoolingLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override;
  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;
  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override;
  bool Differentiable(int bottom) const override;
  int64_t Operations(const BlobVector& bottoms, const BlobVector& tops) const override;

 protected:
  PoolingParameter::PoolMethod method() const { return method_; }
  const PoolPlanes& pool() const { return pool_; }

 private:
  void SetUpKernel(const PoolingParameter& pool);
  void SetUpStrideAndPad(const PoolingParameter& pool);
  void Fit(const Shape& in, int axis, int pad_after, PoolAxis* fitted);

  PoolingParameter::PoolMethod method_ = PoolingParameter::MAX;
  int64_t kernel_h_ = 0, kernel_w_ = 0;
  int pad_after_h_ = 0, pad_after_w_ = 0;
  bool padded_ = false;
  PoolPlanes pool_;
  Tensor mask_;  // 32-bit whole numbers in the memory of floats
};

}  // namespace moka
