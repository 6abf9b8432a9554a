#include "moka/layers/dnnl/dnnl_convolution.hpp"

#include <algorithm>

#include "moka/device/math.hpp"

namespace moka {
namespace {

using dnnl::memory;

/// The shape as oneDNN's descriptors have it.
struct Geometry {
  explicit Geometry(const ConvShape& shape) {
    const ConvWindow& window = shape.window;
    image = {shape.images, window.channels, window.image[0], window.image[1]};
    maps = {shape.images, shape.map_channels, window.map[0], window.map[1]};
    weights = {shape.map_channels / shape.groups, window.channels / shape.groups, window.kernel[0],
               window.kernel[1]};
    if (shape.groups > 1) weights.insert(weights.begin(), shape.groups);
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t extent = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
      const int64_t covered = (window.map[axis] - 1) * window.stride[axis] + extent;
      strides.push_back(window.stride[axis]);
      dilations.push_back(window.dilation[axis] - 1);
      pad_begin.push_back(window.pad[axis]);
      pad_end.push_back(std::max<int64_t>(0, covered - window.image[axis] - window.pad[axis]));
    }
  }

  memory::dims image, maps, weights, strides, dilations, pad_begin, pad_end;
};

/// The memory that a primitive adds a gradient to: the gradient's own where there is nothing to add
/// to yet, else memory beside it that is added when the object goes.
class AddedGradient {
 public:
  AddedGradient(Context& context, Tensor* gradient, const memory::desc& desc)
      : context_(context), gradient_(gradient), adds_(!gradient->is_zero()) {
    if (adds_) own_.Resize(gradient->shape());
    memory_ = WriteDnnl(context, adds_ ? &own_ : gradient, desc);
  }

  const memory& target() const { return memory_; }

  void Finish() {
    if (!adds_) return;
    const float* own = own_.Read(context_);
    Axpby(context_, own_.count(), 1.0f, own, 1.0f, gradient_->ReadWrite(context_));
  }

 private:
  Context& context_;
  Tensor* gradient_;
  bool adds_;
  Tensor own_;
  memory memory_;
};

}  // namespace

bool DnnlConvolution::Supports(const ConvShape& shape) {
  return shape.window.axes == 2 && !shape.general && shape.images > 0;
}

/// oneDNN fills channels up to blocks of 16, and works on what fills as on the rest: with few
/// channels the yardstick's matrix products are faster.
bool DnnlConvolution::IsFast(const ConvShape& shape) {
  if (!Supports(shape)) return false;
  if (shape.IsDepthwise()) return true;
  const auto filled = [](int64_t channels) { return (channels + 15) / 16 * 16; };
  const int64_t maps = shape.map_channels / shape.groups;
  const int64_t channels = shape.window.channels / shape.groups;
  // The channels of pictures are not filled.
  const int64_t from = channels <= 4 ? channels : filled(channels);
  return filled(maps) * from * 2 <= maps * channels * 3;
}

DnnlConvolution::DnnlConvolution(const Context& context, const ConvShape& shape, bool bias,
                                 bool training, dnnl::algorithm algorithm) {
  const DnnlThreads threads(context);
  const Geometry g(shape);
  const memory::desc image = AnyDesc(g.image), maps = AnyDesc(g.maps), weights = AnyDesc(g.weights);
  const memory::desc bias_desc = bias ? PlainDesc({shape.map_channels}) : memory::desc();
  const dnnl::primitive_attr attributes = DnnlAttributes();
  const auto kind =
      training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;

  const dnnl::convolution_forward::primitive_desc forward(
      {kind, algorithm, image, weights, bias_desc, maps, g.strides, g.dilations, g.pad_begin,
       g.pad_end},
      attributes, DnnlEngine());
  forward_ = {DnnlPrimitive::Of(forward), forward.src_desc(), forward.dst_desc(),
              forward.weights_desc()};
  if (!training) return;

  const dnnl::convolution_backward_data::primitive_desc backward_data(
      {algorithm, image, weights, maps, g.strides, g.dilations, g.pad_begin, g.pad_end}, attributes,
      DnnlEngine(), forward);
  backward_data_ = {DnnlPrimitive::Of(backward_data), backward_data.diff_src_desc(),
                    backward_data.diff_dst_desc(), backward_data.weights_desc()};

  const dnnl::convolution_backward_weights::primitive_desc backward_weights(
      {algorithm, image, weights, bias_desc, maps, g.strides, g.dilations, g.pad_begin, g.pad_end},
      attributes, DnnlEngine(), forward);
  backward_weights_ = {DnnlPrimitive::Of(backward_weights), backward_weights.src_desc(),
                       backward_weights.diff_dst_desc(), backward_weights.diff_weights_desc()};
}

void DnnlConvolution::ToMaps(Context& context, const Tensor& image, const Tensor& weights,
                             const Tensor* bias, Tensor* maps) const {
  DnnlArguments arguments = {{DNNL_ARG_SRC, ReadDnnl(context, image, forward_.image)},
                             {DNNL_ARG_WEIGHTS, ReadDnnl(context, weights, forward_.weights)},
                             {DNNL_ARG_DST, WriteDnnl(context, maps, forward_.maps)}};
  if (bias != nullptr) {
    arguments[DNNL_ARG_BIAS] = ReadDnnl(context, *bias, PlainDesc({bias->count()}));
  }
  RunDnnl(context, forward_.primitive, arguments);
}

void DnnlConvolution::ToImage(Context& context, const Tensor& maps, const Tensor& weights,
                              Tensor* image) const {
  RunDnnl(context, backward_data_.primitive,
          {{DNNL_ARG_DIFF_DST, ReadDnnl(context, maps, backward_data_.maps)},
           {DNNL_ARG_WEIGHTS, ReadDnnl(context, weights, backward_data_.weights)},
           {DNNL_ARG_DIFF_SRC, WriteDnnl(context, image, backward_data_.image)}});
}

void DnnlConvolution::ParamGradients(Context& context, const Tensor& image, const Tensor& maps,
                                     Tensor* weights, Tensor* bias) const {
  AddedGradient weights_added(context, weights, backward_weights_.weights);
  DnnlArguments arguments = {{DNNL_ARG_SRC, ReadDnnl(context, image, backward_weights_.image)},
                             {DNNL_ARG_DIFF_DST, ReadDnnl(context, maps, backward_weights_.maps)},
                             {DNNL_ARG_DIFF_WEIGHTS, weights_added.target()}};
  if (bias == nullptr) {
    RunDnnl(context, backward_weights_.primitive, arguments);
  } else {
    AddedGradient bias_added(context, bias, PlainDesc({bias->count()}));
    arguments[DNNL_ARG_DIFF_BIAS] = bias_added.target();
    RunDnnl(context, backward_weights_.primitive, arguments);
    bias_added.Finish();
  }
  weights_added.Finish();
}

}  // namespace moka
