// What a net learns: shared params, and params shared with another net.
#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/philox.hpp"
#include "moka/layers/filler.hpp"
#include "moka/net/net_builder.hpp"
#include "moka/proto/blob_io.hpp"
#include "moka/proto/source.hpp"

namespace moka {

void NetBuilder::AddParams(int position) {
  NetLayer& added = net_.layers_[position];
  const LayerParameter& param = added.param();
  std::vector<LayerParam>& params = added.layer->params();
  Require(param.param_size() <= static_cast<int>(params.size()), "has ", param.param_size(),
          " param entries, but learns ", params.size(), " blob(s)");
  for (int i = 0; i < static_cast<int>(params.size()); ++i) {
    static const ParamSpec kDefault;
    ParamSpec spec = i < param.param_size() ? param.param(i) : kDefault;
    if (!params[i].learned) {
      spec.set_lr_mult(0);
      spec.set_decay_mult(0);
    }
    CheckFiller(params[i].filler);
    added.layer->set_param_propagate(i, spec.lr_mult() != 0);
    ShareParam(position, i, spec);
  }
}

/// Registers a param as learnable, or lets it use the blob of an earlier param of the same name.
void NetBuilder::ShareParam(int layer, int index, const ParamSpec& spec) {
  LayerParam& param = net_.layers_[layer].layer->params()[index];
  const auto known = spec.name().empty() ? param_by_name_.end() : param_by_name_.find(spec.name());
  if (known == param_by_name_.end()) {
    if (!spec.name().empty()) param_by_name_[spec.name()] = net_.learnable_params_.size();
    net_.learnable_params_.push_back({param.blob, layer, index, spec.lr_mult(), spec.decay_mult()});
    return;
  }
  LearnableParam& owner = net_.learnable_params_[known->second];
  const NetLayer& owner_layer = net_.layers_[owner.layer];
  const auto mismatch = [&](const char* what, const auto& mine, const auto& owners) {
    Fail("param \"", spec.name(), "\" has ", what, " ", mine, ", but ", owners, " where layer \"",
         owner_layer.name(), "\" declares it first");
  };
  const Shape& shape = param.blob->shape();
  const Shape& owner_shape = owner.blob->shape();
  const bool permissive = spec.share_mode() == ParamSpec::PERMISSIVE;
  if (permissive ? shape.Count() != owner_shape.Count() : shape != owner_shape) {
    mismatch(permissive ? "a number of values" : "shape", shape, owner_shape);
  }
  const ParamSpec& first = owner.index < owner_layer.param().param_size()
                               ? owner_layer.param().param(owner.index)
                               : ParamSpec::default_instance();
  const auto settle = [&](bool mine, bool owners, float value, float* shared, const char* what) {
    if (mine && owners && value != *shared) mismatch(what, value, *shared);
    if (mine && !owners) *shared = value;
  };
  settle(spec.has_lr_mult(), first.has_lr_mult(), spec.lr_mult(), &owner.lr_mult, "lr_mult");
  settle(spec.has_decay_mult(), first.has_decay_mult(), spec.decay_mult(), &owner.decay_mult,
         "decay_mult");
  param.blob->data().ShareWith(owner.blob->data());
  param.blob->diff().ShareWith(owner.blob->diff());
}

/// First values: those that come with the layer's description, else the filler's.
void NetBuilder::SetParamValues() {
  for (const LearnableParam& learnable : net_.learnable_params_) {
    const Layer& layer = *net_.layers_[learnable.layer].layer;
    const LayerParam& param = layer.params()[learnable.index];
    try {
      if (learnable.index < layer.param().blobs_size()) {
        const FloatArray stored = FromBlobProto(layer.param().blobs(learnable.index));
        Require(static_cast<int64_t>(stored.data.size()) == param.blob->count(), "blobs[",
                learnable.index, "] is ", Shape(stored.shape), ", but the layer learns ",
                param.blob->shape());
        std::copy(stored.data.begin(), stored.data.end(), param.blob->data().Write());
      } else if (net_.options_.fill_params) {
        const uint64_t stream = StreamOf(Text(layer.param().name(), "/", learnable.index));
        FillBlob(*net_.context_, param.filler, Philox::For(net_.options_.seed, stream),
                 param.blob.get());
      }
    } catch (const Error& error) {
      Report(error, layer.param());
    }
  }
}

void Net::ShareParamsWith(const Net& other) {
  for (NetLayer& mine : layers_) {
    const int position = other.LayerIndex(mine.name());
    if (position < 0) continue;
    std::vector<LayerParam>& params = mine.layer->params();
    const std::vector<LayerParam>& theirs = other.layers_[position].layer->params();
    try {
      Require(params.size() == theirs.size(), "learns ", params.size(), " blob(s), but ",
              theirs.size(), " in the net it shares with");
      for (size_t i = 0; i < params.size(); ++i) {
        Blob& blob = *params[i].blob;
        Require(blob.shape() == theirs[i].blob->shape(), "param ", i, " is ", blob.shape(),
                ", but ", theirs[i].blob->shape(), " in the net it shares with");
        blob.data().ShareWith(theirs[i].blob->data());
      }
    } catch (Error& error) {
      error.In(LayerPlace(mine.param()));
      throw;
    }
  }
}

}  // namespace moka
