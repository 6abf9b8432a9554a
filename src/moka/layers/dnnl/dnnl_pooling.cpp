#include "moka/layers/dnnl/dnnl_pooling.hpp"

#include <algorithm>

namespace moka {
namespace {

using dnnl::memory;

/// What the last window needs beyond the input.
int PadEnd(const PoolAxis& axis) {
  return std::max(0, (axis.out - 1) * axis.stride + axis.kernel - axis.in - axis.pad);
}

/// Whether every window has the input under it, and is clipped nowhere but to the input.
bool EveryWindowIsWhole(const PoolAxis& axis) {
  return axis.Start(axis.out - 1) + axis.kernel <= axis.padded_end;
}

bool NoWindowIsEmpty(const PoolAxis& axis) {
  return axis.Length(0) > 0 && axis.Length(axis.out - 1) > 0 && PadEnd(axis) < axis.kernel;
}

dnnl::algorithm Algorithm(DnnlPooling::Method method, const PoolPlanes& pool) {
  if (method == DnnlPooling::Method::kMax) return dnnl::algorithm::pooling_max;
  // Clipped to the padded input is clipped to the input where there is no padding.
  const bool padded =
      pool.h.pad + pool.w.pad > 0 || pool.h.padded_end > pool.h.in || pool.w.padded_end > pool.w.in;
  return method == DnnlPooling::Method::kAverage && padded
             ? dnnl::algorithm::pooling_avg_include_padding
             : dnnl::algorithm::pooling_avg_exclude_padding;
}

}  // namespace

bool DnnlPooling::Supports(const PoolPlanes& pool, Method method) {
  if (!NoWindowIsEmpty(pool.h) || !NoWindowIsEmpty(pool.w)) return false;
  if (Algorithm(method, pool) != dnnl::algorithm::pooling_avg_include_padding) return true;
  return EveryWindowIsWhole(pool.h) && EveryWindowIsWhole(pool.w);
}

DnnlPooling::DnnlPooling(const Context& context, const PoolPlanes& pool, Method method,
                         const memory::desc& image, bool training)
    : image_(image) {
  const DnnlThreads threads(context);
  memory::dims dims = image.dims();
  dims[2] = pool.h.out;
  dims[3] = pool.w.out;
  const memory::dims strides = {pool.h.stride, pool.w.stride};
  const memory::dims kernel = {pool.h.kernel, pool.w.kernel};
  const memory::dims pad_begin = {pool.h.pad, pool.w.pad};
  const memory::dims pad_end = {PadEnd(pool.h), PadEnd(pool.w)};
  const auto kind =
      training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::algorithm algorithm = Algorithm(method, pool);

  const dnnl::pooling_forward::primitive_desc forward(
      {kind, algorithm, image, AnyDesc(dims), strides, kernel, pad_begin, pad_end},
      DnnlAttributes(), DnnlEngine());
  forward_ = DnnlPrimitive::Of(forward);
  pooled_ = forward.dst_desc();
  places_desc_ = forward.workspace_desc();
  if (!training) return;
  const dnnl::pooling_backward::primitive_desc backward(
      {algorithm, image, pooled_, strides, kernel, pad_begin, pad_end}, DnnlAttributes(),
      DnnlEngine(), forward);
  backward_ = DnnlPrimitive::Of(backward);
}

void DnnlPooling::Forward(Context& context, const Tensor& x, Tensor* y) {
  DnnlArguments arguments = {{DNNL_ARG_SRC, ReadDnnl(context, x, image_)},
                             {DNNL_ARG_DST, WriteDnnl(context, y, pooled_)}};
  if (places_desc_.get_size() > 0) {
    places_.Resize({static_cast<int64_t>((places_desc_.get_size() + 3) / sizeof(float))});
    arguments[DNNL_ARG_WORKSPACE] =
        dnnl::memory(places_desc_, DnnlEngine(), places_.Write(context));
  }
  RunDnnl(context, forward_, arguments);
}

void DnnlPooling::Backward(Context& context, const Tensor& dy, Tensor* dx) {
  DnnlArguments arguments = {{DNNL_ARG_DIFF_DST, ReadDnnl(context, dy, pooled_)},
                             {DNNL_ARG_DIFF_SRC, WriteDnnl(context, dx, image_)}};
  if (places_desc_.get_size() > 0) {
    arguments[DNNL_ARG_WORKSPACE] =
        dnnl::memory(places_desc_, DnnlEngine(), const_cast<float*>(places_.Read(context)));
  }
  RunDnnl(context, backward_, arguments);
}

}  // namespace moka
