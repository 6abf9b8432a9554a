// Forms of forks that today's form can say.
#include "moka/proto/upgrade_steps.hpp"

namespace moka {
namespace {

void NotLearned(ParamSpec* spec) {
  spec->set_lr_mult(0);
  spec->set_decay_mult(0);
}

/// The ReLU that a fused convolution has behind one of its tops.
LayerParameter FusedRelu(const LayerParameter& convolution, const std::string& top) {
  LayerParameter relu;
  relu.set_name(top + "/relu");
  relu.set_type("ReLU");
  relu.add_bottom(top);
  relu.add_top(top);
  *relu.mutable_include() = convolution.include();
  *relu.mutable_exclude() = convolution.exclude();
  *relu.mutable_relu_param() = convolution.convolution_param().relu_param();
  if (convolution.has_source()) *relu.mutable_source() = convolution.source();
  RenameField("convolution_param.relu_param", "relu_param", &relu);
  return relu;
}

}  // namespace

bool SplitFused(NetParameter* net) {
  bool changed = false;
  google::protobuf::RepeatedPtrField<LayerParameter> layers;
  for (LayerParameter& layer : *net->mutable_layer()) {
    LayerParameter* kept = layers.Add();
    kept->Swap(&layer);
    if (kept->convolution_param().fuse_type() != ConvolutionParameter::FUSED_CONV_RELU) continue;
    changed = true;
    const LayerParameter convolution = *kept;
    kept->mutable_convolution_param()->clear_fuse_type();
    kept->mutable_convolution_param()->clear_relu_param();
    for (const std::string& top : convolution.top()) *layers.Add() = FusedRelu(convolution, top);
  }
  net->mutable_layer()->Swap(&layers);
  return changed;
}

bool UpgradeScaleBias(LayerParameter* layer) {
  if (!layer->has_batch_norm_param()) return false;
  BatchNormParameter* norm = layer->mutable_batch_norm_param();
  if (norm->has_scale_bias() || !norm->has_scale_filler()) return false;
  norm->set_scale_bias(true);
  const int given = layer->param_size();
  if (given != 2 && given != 4) return true;
  const ParamSpec scale = layer->param(0), bias = layer->param(1);
  layer->clear_param();
  for (int i = 0; i < 3; ++i) NotLearned(layer->add_param());
  *layer->add_param() = scale;
  *layer->add_param() = bias;
  return true;
}

}  // namespace moka
