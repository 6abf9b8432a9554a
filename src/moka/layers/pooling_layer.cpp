#include "moka/layers/pooling_layer.hpp"

#include <climits>

#include "moka/device/for_each.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct PlaceAsFloat {
  const int32_t* mask;
  float* out;
  MOKA_HD void operator()(int64_t i) const { out[i] = static_cast<float>(mask[i]); }
};

int Small(int64_t value, const std::string& name) {
  Require(value <= INT_MAX / 4, "has ", name, " ", value);
  return static_cast<int>(value);
}

/// What an axis is given: the field for both axes, or the one of its own.
int64_t Either(bool has_both, bool has_h, bool has_w, int64_t both, int64_t own,
               const std::string& name) {
  Require(!has_both || !(has_h || has_w), "has ", name, " and ", name, "_h or ", name,
          "_w: give one for both axes, or one for each");
  Require(has_h == has_w, "has only one of ", name, "_h and ", name, "_w: give both");
  return has_h ? own : both;
}

}  // namespace

void PoolingLayer::SetUp(const BlobVector&, const BlobVector& tops) {
  const PoolingParameter& pool = param().pooling_param();
  method_ = pool.pool();
  Require(tops.size() == 1 || method_ == PoolingParameter::MAX,
          "only MAX pooling has a second top, the places of the maxima");
  if (pool.global_pooling()) {
    Require(!pool.has_kernel_size() && !pool.has_kernel_h() && !pool.has_kernel_w(),
            "has global_pooling and a kernel size: the kernel is the whole input");
  } else {
    Require(pool.has_kernel_size() || pool.has_kernel_h() || pool.has_kernel_w(),
            "needs kernel_size (or kernel_h and kernel_w, or global_pooling)");
    SetUpKernel(pool);
  }
  SetUpStrideAndPad(pool);
}

void PoolingLayer::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  const Shape& in = bottoms[0]->shape();
  Require(in.axes() == 4, "pools images, N x C x H x W, but bottom \"", bottoms[0]->name(),
          "\" has shape ", in);
  Require(in[2] * in[3] <= INT_MAX, "planes of ", in[2], " x ", in[3], " are too large");
  pool_.planes = in[0] * in[1];
  Fit(in, 2, pad_after_h_, &pool_.h);
  Fit(in, 3, pad_after_w_, &pool_.w);
  for (Blob* top : tops) top->Resize({in[0], in[1], pool_.h.out, pool_.w.out});
  mask_.Resize(tops[0]->shape());
}

void PoolingLayer::Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) {
  const float* x = bottoms[0]->data().Read(context);
  float* y = tops[0]->data().Write(context);
  if (method_ == PoolingParameter::MAX) {
    auto* mask = reinterpret_cast<int32_t*>(mask_.Write(context));
    MaxPoolForward(context, pool_, x, y, mask);
    if (tops.size() > 1) {
      ForEach(context, tops[1]->count(), PlaceAsFloat{mask, tops[1]->data().Write(context)});
    }
  } else if (method_ != PoolingParameter::STOCHASTIC) {
    AveragePoolForward(context, pool_, method_ == PoolingParameter::AVE, x, y);
  } else if (phase() == TRAIN) {
    StochasticPoolForward(context, pool_, Philox::For(seed(), StreamOf(param().name())), pass(), x,
                          y, reinterpret_cast<int32_t*>(mask_.Write(context)));
  } else {
    ExpectedPoolForward(context, pool_, x, y);
  }
}

void PoolingLayer::Backward(Context& context, const BlobVector& tops,
                            const std::vector<bool>& propagate, const BlobVector& bottoms) {
  if (!propagate[0]) return;
  const float* dy = tops[0]->diff().Read(context);
  float* dx = bottoms[0]->diff().Write(context);
  if (method_ == PoolingParameter::MAX || method_ == PoolingParameter::STOCHASTIC) {
    const auto* mask = reinterpret_cast<const int32_t*>(mask_.Read(context));
    MaskedPoolBackward(context, pool_, mask, dy, dx);
  } else {
    AveragePoolBackward(context, pool_, method_ == PoolingParameter::AVE, dy, dx);
  }
}

bool PoolingLayer::Differentiable(int) const {
  return method_ != PoolingParameter::STOCHASTIC || phase() == TRAIN;
}

int64_t PoolingLayer::Operations(const BlobVector&, const BlobVector& tops) const {
  return tops[0]->count() * pool_.h.kernel * pool_.w.kernel;
}

void PoolingLayer::SetUpKernel(const PoolingParameter& pool) {
  const bool h = pool.has_kernel_h(), w = pool.has_kernel_w(), both = pool.has_kernel_size();
  kernel_h_ = Either(both, h, w, pool.kernel_size(), pool.kernel_h(), "kernel");
  kernel_w_ = Either(both, h, w, pool.kernel_size(), pool.kernel_w(), "kernel");
  Require(kernel_h_ > 0 && kernel_w_ > 0, "has a kernel of ", kernel_h_, " x ", kernel_w_,
          ": it must have at least one value");
  Require(kernel_h_ <= INT_MAX && kernel_w_ <= INT_MAX, "has a kernel of ", kernel_h_, " x ",
          kernel_w_);
}

void PoolingLayer::SetUpStrideAndPad(const PoolingParameter& pool) {
  const bool stride_h = pool.has_stride_h(), stride_w = pool.has_stride_w();
  const bool stride = pool.has_stride();
  pool_.h.stride =
      Small(Either(stride, stride_h, stride_w, pool.stride(), pool.stride_h(), "stride"), "stride");
  pool_.w.stride =
      Small(Either(stride, stride_h, stride_w, pool.stride(), pool.stride_w(), "stride"), "stride");
  Require(pool_.h.stride > 0 && pool_.w.stride > 0, "has stride 0");
  const bool pad_h = pool.has_pad_h(), pad_w = pool.has_pad_w(), pad = pool.has_pad();
  const int64_t top_bottom = Either(pad, pad_h, pad_w, pool.pad(), pool.pad_h(), "pad");
  const int64_t left_right = Either(pad, pad_h, pad_w, pool.pad(), pool.pad_w(), "pad");
  const bool sides = pool.has_pad_l() || pool.has_pad_r() || pool.has_pad_t() || pool.has_pad_b();
  Require(!sides || !(pad || pad_h || pad_w),
          "has pad_l, pad_r, pad_t or pad_b and another pad: give one of them");
  pool_.h.pad = Small(sides ? pool.pad_t() : top_bottom, "pad");
  pool_.w.pad = Small(sides ? pool.pad_l() : left_right, "pad");
  pad_after_h_ = Small(sides ? pool.pad_b() : top_bottom, "pad");
  pad_after_w_ = Small(sides ? pool.pad_r() : left_right, "pad");
  padded_ = pool_.h.pad + pool_.w.pad + pad_after_h_ + pad_after_w_ > 0;
  Require(!padded_ || method_ != PoolingParameter::STOCHASTIC, "STOCHASTIC pooling has no padding");
  if (pool.global_pooling()) {
    Require(!padded_ && pool_.h.stride == 1 && pool_.w.stride == 1,
            "has global_pooling, which has stride 1 and no padding");
  }
}

void PoolingLayer::Fit(const Shape& in, int axis, int pad_after, PoolAxis* fitted) {
  const PoolingParameter& pool = param().pooling_param();
  const int64_t kernel = pool.global_pooling() ? in[axis] : axis == 2 ? kernel_h_ : kernel_w_;
  Require(fitted->pad < kernel && pad_after < kernel, "has padding of ",
          std::max(fitted->pad, pad_after), " for a kernel of ", kernel,
          ": a window could lie in the padding alone");
  fitted->in = static_cast<int>(in[axis]);
  fitted->kernel = static_cast<int>(kernel);
  fitted->padded_end = fitted->in + pad_after;
  const bool round_down =
      pool.round_mode() == PoolingParameter::FLOOR || !pool.ceil_mode() || pool.torch_pooling();
  fitted->out = PoolOutputs(*fitted, padded_, round_down);
  Require(fitted->out > 0, "has a kernel of ", kernel, " that does not fit on axis ", axis,
          " of bottom shape ", in, " with padding of ", fitted->pad, " and ", pad_after);
}

namespace {

const RegisterLayer<PoolingLayer> kRegistration(
    LayerInfo("Pooling")
        .Summary("the largest, mean or a random value of windows of each channel")
        .Field("pooling_param")
        .Bottoms(1, "N x C x H x W")
        .Tops(1, 2, "N x C x h x w; for MAX a second one: the places of the maxima"));

}  // namespace
}  // namespace moka
