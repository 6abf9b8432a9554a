#include "moka/layers/convolution_base.hpp"

namespace moka {

void ConvolutionBase::SetUp(const BlobVector& bottoms, const BlobVector&) {
  const Shape& bottom = bottoms[0]->shape();
  const ConvFields fields = ReadConvFields(param(), bottom);
  channels_ = bottom[fields.channel_axis];
  shape_.groups = ConvGroups(param(), channels_);
  shape_.general = param().convolution_param().force_nd_im2col();
  std::vector<int64_t> weights = {to_maps() ? num_output() : channels_,
                                  (to_maps() ? channels_ : num_output()) / shape_.groups};
  for (const ConvAxis& axis : fields.axes) weights.push_back(axis.kernel);
  AddParam(Shape(weights), param().convolution_param().weight_filler());
  if (has_bias()) AddParam({num_output()}, param().convolution_param().bias_filler());
}

void ConvolutionBase::CheckBottoms(const BlobVector& bottoms) const {
  for (const Blob* bottom : bottoms) {
    Require(bottom->shape() == bottoms[0]->shape(), "bottom \"", bottom->name(), "\" is ",
            bottom->shape(), ", but bottom \"", bottoms[0]->name(), "\" is ", bottoms[0]->shape(),
            ": bottoms that share weights must have the same shape");
  }
}

void ConvolutionBase::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  CheckBottoms(bottoms);
  const Shape& bottom = bottoms[0]->shape();
  const ConvFields fields = ReadConvFields(param(), bottom);
  const int axis = fields.channel_axis;
  Require(bottom[axis] == channels_, "bottom \"", bottoms[0]->name(), "\" has ", bottom[axis],
          " channels (", bottom, "), but the weights are for ", channels_);
  const std::vector<int64_t> in = bottom.Slice(axis + 1, bottom.axes()).dims();
  const std::vector<int64_t> out = (to_maps() ? ConvOutput : DeconvOutput)(param(), fields, bottom);
  shape_.window = to_maps() ? ConvWindow(fields, channels_, in, out)
                            : ConvWindow(fields, num_output(), out, in);
  shape_.map_channels = to_maps() ? num_output() : channels_;
  shape_.images = bottom.Count(0, axis);
  std::vector<int64_t> top = bottom.Slice(0, axis).dims();
  top.push_back(num_output());
  top.insert(top.end(), out.begin(), out.end());
  for (Blob* blob : tops) blob->Resize(Shape(top));
}

void ConvolutionBase::Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) {
  const float* weights = param_blob(0).data().Read(context);
  const float* bias = has_bias() ? param_blob(1).data().Read(context) : nullptr;
  for (size_t i = 0; i < bottoms.size(); ++i) {
    const float* x = bottoms[i]->data().Read(context);
    float* y = tops[i]->data().Write(context);
    (to_maps() ? ConvToMaps : ConvToImage)(context, shape_, x, weights, bias, y);
  }
}

void ConvolutionBase::Backward(Context& context, const BlobVector& tops,
                               const std::vector<bool>& propagate, const BlobVector& bottoms) {
  for (size_t i = 0; i < tops.size(); ++i) {
    ParamGradients(context, *tops[i], *bottoms[i]);
    if (!propagate[i]) continue;
    const float* weights = param_blob(0).data().Read(context);
    const float* dy = tops[i]->diff().Read(context);
    float* dx = bottoms[i]->diff().Write(context);
    (to_maps() ? ConvToImage : ConvToMaps)(context, shape_, dy, weights, nullptr, dx);
  }
}

void ConvolutionBase::ParamGradients(Context& context, const Blob& top, const Blob& bottom) {
  float beta;
  if (param_propagate(0)) {
    const float* dy = top.diff().Read(context);
    const float* x = bottom.data().Read(context);
    float* gradient = param_blob(0).diff().Accumulate(context, &beta);
    ConvWeightGradient(context, shape_, to_maps() ? x : dy, to_maps() ? dy : x, beta, gradient);
  }
  if (has_bias() && param_propagate(1)) {
    const float* dy = top.diff().Read(context);
    float* gradient = param_blob(1).diff().Accumulate(context, &beta);
    ConvBiasGradient(context, shape_.images, num_output(),
                     to_maps() ? shape_.window.map_size : shape_.window.image_size, dy, beta,
                     gradient);
  }
}

int64_t ConvolutionBase::Operations(const BlobVector& bottoms, const BlobVector&) const {
  return static_cast<int64_t>(bottoms.size()) * shape_.Operations();
}

}  // namespace moka
