#include <algorithm>
#include <map>
#include <set>

#include "moka/base/error.hpp"
#include "moka/net/net_builder.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

bool LearnsAnything(const NetLayer& layer) {
  for (size_t i = 0; i < layer.layer->params().size(); ++i) {
    if (layer.layer->param_propagate(static_cast<int>(i))) return true;
  }
  return false;
}

/// From inputs to outputs: a gradient is wanted where something before it learns.
void FindWanted(std::vector<NetLayer>* layers) {
  std::set<const Blob*> wanted;
  for (NetLayer& layer : *layers) {
    const LayerParameter& param = layer.param();
    Require(param.propagate_down_size() == 0 ||
                param.propagate_down_size() == static_cast<int>(layer.bottoms.size()),
            LayerPlace(param), ": has ", param.propagate_down_size(), " propagate_down for ",
            layer.bottoms.size(), " bottom(s): give one a bottom, or none");
    layer.backward = LearnsAnything(layer);
    for (size_t i = 0; i < layer.bottoms.size(); ++i) {
      layer.propagate.push_back(param.propagate_down_size() > 0
                                    ? param.propagate_down(static_cast<int>(i))
                                    : wanted.count(layer.bottoms[i]) > 0);
      layer.backward = layer.backward || layer.propagate.back();
    }
    for (const Blob* top : layer.tops) {
      if (layer.backward) wanted.insert(top);
    }
  }
}

/// From outputs to inputs: only what leads to a loss is computed.
void DropWhatLeadsToNoLoss(std::vector<NetLayer>* layers) {
  std::set<const Blob*> under_loss, skipped;
  for (auto layer = layers->rbegin(); layer != layers->rend(); ++layer) {
    bool leads_to_loss = false, all_skipped = true;
    for (size_t i = 0; i < layer->tops.size(); ++i) {
      leads_to_loss =
          leads_to_loss || layer->loss_weights[i] != 0 || under_loss.count(layer->tops[i]) > 0;
      all_skipped = all_skipped && skipped.count(layer->tops[i]) > 0;
    }
    if (!leads_to_loss || all_skipped) layer->backward = false;
    for (size_t i = 0; i < layer->bottoms.size(); ++i) {
      if (leads_to_loss) under_loss.insert(layer->bottoms[i]);
      if (!layer->backward) layer->propagate[i] = false;
      if (!layer->propagate[i]) skipped.insert(layer->bottoms[i]);
    }
  }
}

/// force_backward: every layer, and every bottom that has a derivative.
void ForceAll(std::vector<NetLayer>* layers) {
  for (NetLayer& layer : *layers) {
    layer.backward = true;
    for (size_t i = 0; i < layer.bottoms.size(); ++i) {
      layer.propagate[i] = layer.layer->Differentiable(static_cast<int>(i));
    }
    const std::vector<LayerParam>& params = layer.layer->params();
    for (size_t i = 0; i < params.size(); ++i) {
      layer.layer->set_param_propagate(static_cast<int>(i), params[i].learned);
    }
  }
}

/// A gradient that is wanted but does not exist is the user's mistake.
void CheckDifferentiable(const std::vector<NetLayer>& layers) {
  for (const NetLayer& layer : layers) {
    for (size_t i = 0; i < layer.bottoms.size(); ++i) {
      if (!layer.propagate[i] || layer.layer->Differentiable(static_cast<int>(i))) continue;
      throw Error(Text(layer.param().type(), " has no derivative with respect to bottom \"",
                       layer.bottoms[i]->name(), "\""))
          .Hint("set propagate_down: false for it, or lr_mult: 0 for all layers before it")
          .In(LayerPlace(layer.param()));
    }
  }
}

void FindTopGradients(const std::vector<Blob*>& outputs, std::vector<NetLayer>* layers) {
  // Layers in reverse: the reader of a version of a blob is the last one seen.
  std::map<const Blob*, bool> read_with_gradient;
  for (auto layer = layers->rbegin(); layer != layers->rend(); ++layer) {
    for (const Blob* top : layer->tops) {
      const auto reader = read_with_gradient.find(top);
      if (reader != read_with_gradient.end()) {
        layer->top_gradients.push_back(reader->second ? TopGradient::kReader : TopGradient::kNone);
      } else {
        const bool output = std::count(outputs.begin(), outputs.end(), top) > 0;
        layer->top_gradients.push_back(output ? TopGradient::kCaller : TopGradient::kNone);
      }
    }
    for (size_t i = 0; i < layer->bottoms.size(); ++i) {
      read_with_gradient[layer->bottoms[i]] = layer->propagate[i];
    }
  }
}

}  // namespace

void PlanGradients(bool force_backward, const std::vector<Blob*>& outputs,
                   std::vector<NetLayer>* layers) {
  FindWanted(layers);
  DropWhatLeadsToNoLoss(layers);
  if (force_backward) ForceAll(layers);
  CheckDifferentiable(*layers);
  FindTopGradients(outputs, layers);
}

}  // namespace moka
