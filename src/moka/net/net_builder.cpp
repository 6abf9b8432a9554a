#include "moka/net/net_builder.hpp"

#include <glog/logging.h>

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/passes.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"

namespace moka {

void NetBuilder::Build(const NetParameter& param, const NetState& state) {
  NetParameter modern = param;
  std::vector<std::string> messages;
  UpgradeNet(&modern, &messages);
  for (const std::string& message : messages) LOG(INFO) << message;
  NetState merged = modern.state();
  merged.MergeFrom(state);
  net_.param_ = InsertSplits(FilterLayers(modern, merged));
  if (net_.param_.layer_size() == 0) {
    throw Error(
        Text("net \"", net_.name(), "\" has no layers in phase ", Phase_Name(merged.phase())))
        .Hint("check the file, and the include and exclude rules of its layers");
  }
  for (const LayerParameter& layer : net_.param_.layer()) AddLayer(layer);
  FindOutputs();
  FindCopies();
  if (net_.options_.problems != nullptr && !net_.options_.problems->empty()) return;
  try {
    PlanGradients(net_.param_.force_backward(), net_.outputs_, &net_.layers_);
  } catch (const Error& error) {
    if (net_.options_.problems == nullptr) throw;
    net_.options_.problems->push_back(error.what());
  }
  SetParamValues();
}

void NetBuilder::Report(const Error& error, const LayerParameter& param) {
  Error placed = error;
  placed.In(LayerPlace(param));
  if (net_.options_.problems == nullptr) throw placed;
  net_.options_.problems->push_back(placed.what());
}

void NetBuilder::AddLayer(const LayerParameter& param) {
  NetLayer added;
  const LayerInfo* info = nullptr;
  bool sound = false;
  try {
    info = &LayerRegistry::Get().Info(param.type());
    info->CheckArity(param);
    sound = true;
  } catch (const Error& error) {
    Report(error, param);
  }
  sound = TakeBottoms(param, &added) && sound;
  try {
    MakeTops(param, info, &added);
    if (sound) {
      added.layer = LayerRegistry::Get().Create(param, *net_.context_, &added.engine);
      SetUp(&added);
      SetLossWeights(&added);
    }
  } catch (const Error& error) {
    Report(error, param);
    sound = false;
  }
  if (!sound) {
    broken_.insert(added.tops.begin(), added.tops.end());
    return;
  }
  net_.layers_.push_back(std::move(added));
  try {
    AddParams(static_cast<int>(net_.layers_.size()) - 1);
  } catch (const Error& error) {
    Report(error, param);
  }
}

bool NetBuilder::TakeBottoms(const LayerParameter& param, NetLayer* added) {
  bool sound = true;
  for (const std::string& name : param.bottom()) {
    Blob* blob = net_.FindBlob(name);
    if (blob == nullptr) {
      std::vector<std::string> known;
      for (const auto& entry : made_at_) known.push_back(entry.first);
      Error error(Text("unknown bottom \"", name, "\"", DidYouMean(name, known)));
      for (const LayerParameter& later : net_.param_.layer()) {
        if (std::count(later.top().begin(), later.top().end(), name) == 0) continue;
        error.Hint("it is made further down, by " + LayerPlace(later) +
                   "; layers run in the order of the file");
        break;
      }
      Report(error, param);
      sound = false;
      continue;
    }
    sound = sound && broken_.count(blob) == 0;
    unread_.erase(name);
    added->bottoms.push_back(blob);
  }
  return sound;
}

void NetBuilder::MakeTops(const LayerParameter& param, const LayerInfo* info, NetLayer* added) {
  const int missing = info != nullptr && info->makes_missing_tops()
                          ? std::max(0, info->tops().min - param.top_size())
                          : 0;
  for (int i = 0; i < param.top_size() + missing; ++i) {
    const std::string name = i < param.top_size() ? param.top(i) : "(automatic)";
    const bool in_place = i < param.bottom_size() && param.bottom(i) == name;
    if (in_place) {
      Require(info == nullptr || info->in_place(), param.type(), " cannot work in place: top \"",
              name, "\" needs a name of its own");
      if (net_.FindBlob(name) != nullptr) added->tops.push_back(net_.FindBlob(name));
      unread_.insert(name);
      continue;
    }
    const auto made = made_at_.find(name);
    if (made != made_at_.end() && i < param.top_size()) {
      throw Error(Text("top \"", name, "\" has the name of a blob that is there already"))
          .Hint("made by " + made->second);
    }
    net_.blobs_.push_back(std::make_unique<Blob>(name));
    added->tops.push_back(net_.blobs_.back().get());
    if (i >= param.top_size()) continue;
    net_.blob_by_name_[name] = added->tops.back();
    made_at_[name] = LayerPlace(param);
    unread_.insert(name);
    if (param.type() == "Input") net_.inputs_.push_back(added->tops.back());
  }
}

void NetBuilder::SetUp(NetLayer* added) {
  Layer& layer = *added->layer;
  layer.set_pass(net_.options_.seed, 0);
  try {
    layer.SetUp(added->bottoms, added->tops);
    net_.ReshapeIfNeeded(*added, true);
  } catch (const MissingFile& error) {
    if (net_.options_.notes == nullptr) throw;
    net_.options_.notes->push_back(Text(LayerPlace(added->param()), ": ", error.what()));
    if (!layer.AssumeShapes(added->tops)) {
      broken_.insert(added->tops.begin(), added->tops.end());
    }
  }
}

void NetBuilder::SetLossWeights(NetLayer* added) {
  const LayerParameter& param = added->param();
  const int given = param.loss_weight_size();
  Require(given == 0 || given == static_cast<int>(added->tops.size()), "has ", given,
          " loss_weight(s) for ", added->tops.size(), " top(s): give one a top, or none");
  for (int i = 0; i < static_cast<int>(added->tops.size()); ++i) {
    added->loss_weights.push_back(given > 0 ? param.loss_weight(i)
                                            : added->layer->DefaultLossWeight(i));
  }
}

void NetBuilder::FindOutputs() {
  // std::set keeps names in byte order, which is the order of the outputs.
  for (const std::string& name : unread_) {
    Blob* blob = net_.FindBlob(name);
    float weight = 0;
    for (const NetLayer& layer : net_.layers_) {
      for (size_t i = 0; i < layer.tops.size(); ++i) {
        if (layer.tops[i] == blob) weight = layer.loss_weights[i];
      }
    }
    net_.outputs_.push_back(blob);
    net_.output_loss_weights_.push_back(weight);
  }
}

/// A layer may let its top share its bottom's memory only if no later layer changes any of the
/// blobs that would share in place.
void NetBuilder::FindCopies() {
  for (size_t i = 0; i < net_.layers_.size(); ++i) {
    NetLayer& sharer = net_.layers_[i];
    if (!sharer.layer->SharesMemory()) continue;
    std::set<const Blob*> sharing(sharer.tops.begin(), sharer.tops.end());
    sharing.insert(sharer.bottoms.begin(), sharer.bottoms.end());
    bool changed = false;
    for (size_t j = i + 1; j < net_.layers_.size(); ++j) {
      const NetLayer& later = net_.layers_[j];
      if (later.bottoms.empty() || sharing.count(later.bottoms[0]) == 0) continue;
      if (later.layer->SharesMemory()) sharing.insert(later.tops.begin(), later.tops.end());
      changed = changed || (!later.tops.empty() && later.tops[0] == later.bottoms[0]);
    }
    sharer.layer->set_copies(changed);
  }
}

}  // namespace moka
