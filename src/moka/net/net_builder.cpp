#include "moka/net/net_builder.hpp"

#include <glog/logging.h>

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/passes.hpp"
#include "moka/net/trial.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"

namespace moka {
namespace {

/// `phase TEST, level 0, no stages`, as the rules of layers see it.
std::string StateText(const NetState& state) {
  return Text("phase ", Phase_Name(state.phase()), ", level ", state.level(), ", ",
              state.stage().empty() ? "no stages" : "stages " + Join(state.stage(), " and "));
}

}  // namespace

void NetBuilder::Build(const NetParameter& param, const NetState& state) {
  whole_ = param;
  std::vector<std::string> messages;
  UpgradeNet(&whole_, &messages);
  for (const std::string& message : messages) {
    if (!Gathering()) LOG(INFO) << message;
  }
  NetState merged = whole_.state();
  merged.MergeFrom(state);
  net_.param_ = InsertSplits(FilterLayers(whole_, merged));
  if (net_.param_.layer_size() == 0) {
    throw Error(
        Text("net \"", net_.name(), "\" has no layers in phase ", Phase_Name(merged.phase())))
        .Hint("check the file, and the include and exclude rules of its layers");
  }
  for (const LayerParameter& layer : net_.param_.layer()) AddLayer(layer);
  FindOutputs();
  FindCopies();
  if (Gathering() && !net_.options_.problems->empty()) return;
  try {
    PlanGradients(net_.param_.force_backward(), net_.outputs_, &net_.layers_);
  } catch (const Error& error) {
    if (!Gathering()) throw;
    net_.options_.problems->push_back(error.what());
  }
  SetParamValues();
}

void NetBuilder::Report(const Error& error, const LayerParameter& param) {
  Error placed = error;
  PutInLayer(&placed, param);
  if (!Gathering()) throw placed;
  net_.options_.problems->push_back(placed.what());
}

void NetBuilder::ReportUnlessGuessed(const Error& error, const LayerParameter& param) {
  if (!guessed_) Report(error, param);
}

void NetBuilder::AddLayer(const LayerParameter& param, bool guessed) {
  guessed_ = guessed;
  const LayerRegistry& registry = LayerRegistry::Get();
  const LayerInfo* info = registry.Find(param.type());
  bool sound = net_.options_.doubts == nullptr || !net_.options_.doubts->layer(param);
  try {
    if (sound) registry.Info(param.type()).CheckArity(param);
  } catch (const Error& error) {
    ReportUnlessGuessed(error, param);
    sound = false;
    if (info == nullptr) {
      LayerParameter meant = param;
      meant.set_type(NearestName(param.type(), registry.Types()));
      if (!meant.type().empty()) return AddLayer(meant, true);
    }
  }
  AddTyped(param, info, sound);
}

void NetBuilder::AddTyped(const LayerParameter& param, const LayerInfo* info, bool sound) {
  NetLayer added;
  const bool shapes_known = TakeBottoms(param, &added);
  try {
    MakeTops(param, info, &added);
    if (sound && !shapes_known && param.bottom_size() == static_cast<int>(added.bottoms.size())) {
      CheckForAnyShape(param, added.bottoms, broken_, *net_.context_);
    }
    sound = sound && shapes_known;
    if (sound) {
      added.layer = LayerRegistry::Get().Create(param, *net_.context_, &added.engine);
      SetUp(&added);
      SetLossWeights(&added);
    }
  } catch (const Error& error) {
    ReportUnlessGuessed(error, param);
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
    ReportUnlessGuessed(error, param);
  }
}

bool NetBuilder::TakeBottoms(const LayerParameter& param, NetLayer* added) {
  bool sound = true;
  for (const std::string& name : param.bottom()) {
    Blob* blob = net_.FindBlob(name);
    if (blob == nullptr) blob = FindMeant(param, name);
    if (blob == nullptr) {
      sound = false;
      continue;
    }
    sound = sound && broken_.count(blob) == 0;
    unread_.erase(blob->name());
    added->bottoms.push_back(blob);
  }
  return sound;
}

/// Reports an unknown bottom; returns the blob that was probably meant, null if none is near.
Blob* NetBuilder::FindMeant(const LayerParameter& param, const std::string& bottom) {
  if (net_.options_.doubts != nullptr && net_.options_.doubts->blob(bottom)) return nullptr;
  std::vector<std::string> known;
  for (const auto& entry : made_at_) known.push_back(entry.first);
  Error error(Text("unknown bottom \"", bottom, "\"", DidYouMean(bottom, known)));
  for (const LayerParameter& maker : whole_.layer()) {
    if (std::count(maker.top().begin(), maker.top().end(), bottom) == 0) continue;
    const bool belongs = std::any_of(
        net_.param_.layer().begin(), net_.param_.layer().end(), [&](const LayerParameter& layer) {
          return layer.name() == maker.name() && layer.source().line() == maker.source().line();
        });
    error.Hint(belongs ? "it is made further down, by " + LayerPlace(maker) +
                             "; layers run in the order of the file"
                       : "it is made by " + LayerPlace(maker) + ", which its rules leave out in " +
                             StateText(net_.param_.state()));
    break;
  }
  Report(error, param);
  Blob* meant = net_.FindBlob(NearestName(bottom, known));
  guessed_ = guessed_ || meant != nullptr;
  return meant;
}

void NetBuilder::MakeTops(const LayerParameter& param, const LayerInfo* info, NetLayer* added) {
  const int missing = info != nullptr && info->makes_missing_tops()
                          ? std::max(0, info->tops().min - param.top_size())
                          : 0;
  for (int i = 0; i < param.top_size() + missing; ++i) {
    const std::string name = i < param.top_size() ? param.top(i) : "(automatic)";
    // A bottom may be another than it says, see FindMeant.
    const bool all_there = added->bottoms.size() == static_cast<size_t>(param.bottom_size());
    const bool in_place =
        i < param.bottom_size() &&
        (param.bottom(i) == name || (all_there && added->bottoms[i]->name() == name));
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
