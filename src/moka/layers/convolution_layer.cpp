#include "moka/layers/convolution_base.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// y[n, o] = b[o] + sum over channels c of o's group and taps t of w[o, c, t] * x[n, c] under the
/// window's tap t. N x C x any spatial axes -> N x num_output x the positions of the window:
/// (length + pads - dilation * (kernel - 1) - 1) / stride + 1 along each axis. `axis` says where
/// the channels are; all axes before it count images. Several bottoms share the weights.
///
/// Follows Caffe's Convolution, but throws where the kernel is larger than the padded image and
/// where dilation or group is 0. Types named after depthwise convolution have group = channels by
/// default.
class ConvolutionLayer : public ConvolutionBase {
 public:
  explicit ConvolutionLayer(const LayerParameter& param)
      : ConvolutionBase(param, Direction::kToMaps) {}
};

LayerInfo Info(const std::string& type, const std::string& summary) {
  return LayerInfo(type)
      .Summary(summary)
      .Field("convolution_param")
      .Bottoms(1, Arity::kAny, "images, N x C x spatial axes; all share the weights")
      .Tops(1, Arity::kAny, "maps, N x num_output x spatial axes")
      .OneTopABottom();
}

const char kDepthwise[] = "Convolution with a filter of its own for each channel";

const RegisterLayer<ConvolutionLayer> kRegistrations[] = {
    RegisterLayer<ConvolutionLayer>(Info("Convolution", "learned filters over images")),
    RegisterLayer<ConvolutionLayer>(Info("DepthwiseConvolution", kDepthwise)),
    RegisterLayer<ConvolutionLayer>(Info("ConvolutionDepthwise", kDepthwise)),
    RegisterLayer<ConvolutionLayer>(Info("DepthwiseConv", kDepthwise)),
};

}  // namespace
}  // namespace moka
