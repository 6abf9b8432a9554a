#include "moka/layers/convolution_base.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// The transpose of Convolution: every value of the bottom adds its multiple of a filter to the
/// window at its place. N x C x any spatial axes -> N x num_output x
/// ((length - 1) * stride + dilation * (kernel - 1) + 1 - pads) along each axis; weights are
/// C x num_output / group x kernel. With group = C and the filler "bilinear" it upsamples.
///
/// Follows Caffe's Deconvolution; throws where padding leaves nothing of the output.
class DeconvolutionLayer : public ConvolutionBase {
 public:
  explicit DeconvolutionLayer(const LayerParameter& param)
      : ConvolutionBase(param, Direction::kToImage) {}
};

const RegisterLayer<DeconvolutionLayer> kRegistration(
    LayerInfo("Deconvolution")
        .Summary("the transpose of Convolution, for upsampling")
        .Field("convolution_param")
        .Bottoms(1, Arity::kAny, "maps, N x C x spatial axes; all share the weights")
        .Tops(1, Arity::kAny, "images, N x num_output x larger spatial axes")
        .OneTopABottom());

}  // namespace
}  // namespace moka
