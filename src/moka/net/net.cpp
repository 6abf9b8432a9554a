#include "moka/net/net.hpp"

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/device/math.hpp"
#include "moka/net/net_builder.hpp"
#include "moka/proto/source.hpp"

namespace moka {

Net::Net(const NetParameter& param, const NetState& state, std::shared_ptr<Context> context,
         const NetOptions& options)
    : options_(options), context_(std::move(context)) {
  NetBuilder(this).Build(param, state);
}

Net::~Net() = default;

int Net::LayerIndex(const std::string& name) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].name() == name) return static_cast<int>(i);
  }
  return -1;
}

Blob* Net::FindBlob(const std::string& name) const {
  const auto found = blob_by_name_.find(name);
  return found == blob_by_name_.end() ? nullptr : found->second;
}

Blob& Net::blob(const std::string& name) const {
  Blob* found = FindBlob(name);
  if (found != nullptr) return *found;
  std::vector<std::string> names;
  for (const auto& entry : blob_by_name_) names.push_back(entry.first);
  Fail("net \"", this->name(), "\" has no blob \"", name, "\"", DidYouMean(name, names));
}

void Net::Forward(int begin, int end) {
  for (int i = begin; i < end; ++i) {
    NetLayer& layer = layers_[i];
    if (observer_ != nullptr) observer_->Before(i, false);
    try {
      ReshapeIfNeeded(layer, false);
      layer.layer->set_pass(options_.seed, pass_);
      layer.layer->Forward(*context_, layer.bottoms, layer.tops);
    } catch (Error& error) {
      PutInLayer(&error, layer.param());
      throw;
    }
    if (observer_ != nullptr) observer_->After(i, false);
  }
  if (end == static_cast<int>(layers_.size())) ++pass_;
}

void Net::ReshapeIfNeeded(NetLayer& layer, bool first) {
  bool changed = first;
  layer.known_shapes.resize(layer.bottoms.size());
  for (size_t i = 0; i < layer.bottoms.size(); ++i) {
    if (layer.known_shapes[i] == layer.bottoms[i]->shape() && !first) continue;
    layer.known_shapes[i] = layer.bottoms[i]->shape();
    changed = true;
  }
  // A layer that reads from outside sizes its tops in Forward; an Input's tops belong to the user.
  if (changed && (first || !layer.bottoms.empty())) {
    layer.layer->Reshape(layer.bottoms, layer.tops);
  }
}

void Net::Reshape() {
  for (NetLayer& layer : layers_) {
    try {
      ReshapeIfNeeded(layer, false);
    } catch (Error& error) {
      PutInLayer(&error, layer.param());
      throw;
    }
  }
}

void Net::Backward(int begin, int end) {
  for (int i = begin - 1; i >= end; --i) {
    NetLayer& layer = layers_[i];
    if (!layer.backward) continue;
    if (observer_ != nullptr) observer_->Before(i, true);
    try {
      PrepareTopGradients(layer);
      layer.layer->Backward(*context_, layer.tops, layer.propagate, layer.bottoms);
    } catch (Error& error) {
      PutInLayer(&error, layer.param());
      throw;
    }
    if (observer_ != nullptr) observer_->After(i, true);
  }
}

/// A top's gradient is what its reader computed, plus its own weight in the loss. Where neither is,
/// it is what the caller wrote into an output's gradient, or zero.
void Net::PrepareTopGradients(NetLayer& layer) {
  for (size_t i = 0; i < layer.tops.size(); ++i) {
    Tensor& gradient = layer.tops[i]->diff();
    const float weight = layer.loss_weights[i];
    if (layer.top_gradients[i] == TopGradient::kReader) {
      if (weight != 0) {
        AddScalar(*context_, gradient.count(), weight, gradient.ReadWrite(*context_));
      }
    } else if (weight != 0) {
      Fill(*context_, gradient.count(), weight, gradient.Write(*context_));
    } else if (layer.top_gradients[i] == TopGradient::kNone || !gradient.written()) {
      gradient.SetZero();
    }
  }
}

double Net::Loss() const {
  double loss = 0;
  for (const NetLayer& layer : layers_) {
    for (size_t i = 0; i < layer.tops.size(); ++i) {
      if (layer.loss_weights[i] == 0) continue;
      const Tensor& data = layer.tops[i]->data();
      const double sum =
          data.count() == 1 ? data.Read()[0] : Sum(*context_, data.count(), data.Read(*context_));
      loss += layer.loss_weights[i] * sum;
    }
  }
  return loss;
}

void Net::ClearParamDiffs() {
  for (const LearnableParam& param : learnable_params_) param.blob->diff().SetZero();
}

}  // namespace moka
