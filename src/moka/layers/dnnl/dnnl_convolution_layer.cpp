#include <memory>

#include "moka/layers/convolution_base.hpp"
#include "moka/layers/dnnl/dnnl_convolution.hpp"
#include "moka/layers/dnnl/register_dnnl.hpp"

namespace moka {
namespace {

/// Convolution by oneDNN, with maps and weights in its blocked formats; what oneDNN does not have
/// goes the way of the yardstick.
class DnnlConvolutionLayer : public ConvolutionBase {
 public:
  explicit DnnlConvolutionLayer(const LayerParameter& param)
      : ConvolutionBase(param, Direction::kToMaps) {}

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    ConvolutionBase::Reshape(bottoms, tops);
    convolution_.reset();
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    if (!Supported()) return ConvolutionBase::Forward(context, bottoms, tops);
    const Tensor* bias = has_bias() ? &param_blob(1).data() : nullptr;
    for (size_t i = 0; i < bottoms.size(); ++i) {
      Convolution(context).ToMaps(context, bottoms[i]->data(), param_blob(0).data(), bias,
                                  &tops[i]->data());
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!Supported()) return ConvolutionBase::Backward(context, tops, propagate, bottoms);
    const bool weights = param_propagate(0), bias = has_bias() && param_propagate(1);
    for (size_t i = 0; i < tops.size(); ++i) {
      if (weights && bias == has_bias()) {
        Convolution(context).ParamGradients(context, bottoms[i]->data(), tops[i]->diff(),
                                            &param_blob(0).diff(),
                                            bias ? &param_blob(1).diff() : nullptr);
      } else {
        ParamGradients(context, *tops[i], *bottoms[i]);
      }
      if (!propagate[i]) continue;
      Convolution(context).ToImage(context, tops[i]->diff(), param_blob(0).data(),
                                   &bottoms[i]->diff());
    }
  }

 private:
  /// Asked for by name, the engine works where it can, else where it is likely to be faster.
  bool Supported() const {
    return param().engine() == "DNNL" ? DnnlConvolution::Supports(shape())
                                      : DnnlConvolution::IsFast(shape());
  }

  const DnnlConvolution& Convolution(const Context& context) {
    if (convolution_ == nullptr) {
      convolution_ = std::make_unique<DnnlConvolution>(context, shape(), has_bias(), true,
                                                       dnnl::algorithm::convolution_direct);
    }
    return *convolution_;
  }

  std::unique_ptr<DnnlConvolution> convolution_;
};

const RegisterDnnl<DnnlConvolutionLayer> kRegistrations[] = {
    RegisterDnnl<DnnlConvolutionLayer>("Convolution"),
    RegisterDnnl<DnnlConvolutionLayer>("DepthwiseConvolution"),
    RegisterDnnl<DnnlConvolutionLayer>("ConvolutionDepthwise"),
    RegisterDnnl<DnnlConvolutionLayer>("DepthwiseConv"),
};

}  // namespace
}  // namespace moka
