#include "moka/layers/registry.hpp"

#include <map>
#include <set>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/arriving.hpp"

namespace moka {
namespace {

std::string Count(const Arity& arity) {
  if (arity.min == arity.max) return Text(arity.min);
  if (arity.max == Arity::kAny) return Text("at least ", arity.min);
  return Text(arity.min, " to ", arity.max);
}

void CheckCount(const Arity& arity, const std::string& what, int count) {
  if (count >= arity.min && count <= arity.max) return;
  Error error(Text("takes ", Count(arity), " ", what, "(s), but has ", count));
  if (!arity.meaning.empty()) error.Hint(what + "s: " + arity.meaning);
  throw error;
}

/// The engine the layer asks for by its own `engine` field or that of its parameter message; empty
/// for the default. Engines of other tools are hints that any engine may serve.
std::string WantedEngine(const LayerParameter& layer, const LayerInfo& info) {
  std::string wanted = layer.engine();
  const auto* field = layer.GetDescriptor()->FindFieldByName(info.field());
  if (wanted.empty() && field != nullptr && layer.GetReflection()->HasField(layer, field)) {
    const google::protobuf::Message& message = layer.GetReflection()->GetMessage(layer, field);
    const auto* engine = message.GetDescriptor()->FindFieldByName("engine");
    if (engine != nullptr && engine->enum_type() != nullptr) {
      wanted = message.GetReflection()->GetEnum(message, engine)->name();
    }
  }
  return wanted == "CAFFE" ? "MOKA" : wanted;
}

/// Where layers go while a plug-in is loaded, else null.
std::vector<ArrivingLayer>* arriving = nullptr;

}  // namespace

struct LayerRegistry::Engines {
  std::map<std::string, LayerInfo> by_type;
  // Engines may be loaded before the type they serve.
  std::map<std::string, std::vector<LayerEngine>> waiting;
};

void LayerInfo::CheckArity(const LayerParameter& layer) const {
  CheckCount(bottoms_, "bottom", layer.bottom_size());
  if (!makes_missing_tops_ || layer.top_size() > tops_.max) {
    CheckCount(tops_, "top", layer.top_size());
  }
  Require(!one_top_a_bottom_ || layer.bottom_size() == layer.top_size(),
          "gives one top for each bottom, but has ", layer.bottom_size(), " bottom(s) and ",
          layer.top_size(), " top(s)");
}

LayerRegistry::LayerRegistry() : engines_(std::make_shared<Engines>()) {}

LayerRegistry& LayerRegistry::Get() {
  static LayerRegistry registry;
  return registry;
}

void LayerRegistry::Register(const LayerInfo& info, const LayerEngine& engine) {
  if (arriving != nullptr) {
    arriving->push_back({info, engine});
    return;
  }
  const auto added = engines_->by_type.emplace(info.type(), info);
  Require(added.second, "layer type \"", info.type(), "\" is registered twice");
  LayerInfo& known = added.first->second;
  known.engines = std::move(engines_->waiting[info.type()]);
  known.engines.push_back(engine);
}

std::vector<ArrivingLayer> LayersArrivingDuring(const std::function<void()>& load) {
  std::vector<ArrivingLayer> arrived;
  arriving = &arrived;
  try {
    load();
  } catch (...) {
    arriving = nullptr;
    throw;
  }
  arriving = nullptr;
  return arrived;
}

void CheckArriving(const std::vector<ArrivingLayer>& layers) {
  std::set<std::string> types;
  for (const ArrivingLayer& layer : layers) {
    const std::string& type = layer.info.type();
    const bool is_new = LayerRegistry::Get().Find(type) == nullptr && types.insert(type).second;
    Require(is_new, "there is a layer \"", type, "\" already");
  }
}

void LayerRegistry::RegisterEngine(const std::string& type, const LayerEngine& engine) {
  const auto found = engines_->by_type.find(type);
  auto& list = found == engines_->by_type.end() ? engines_->waiting[type] : found->second.engines;
  list.insert(list.begin(), engine);
}

const LayerInfo* LayerRegistry::Find(const std::string& type) const {
  const auto found = engines_->by_type.find(type);
  return found == engines_->by_type.end() ? nullptr : &found->second;
}

const LayerInfo& LayerRegistry::Info(const std::string& type) const {
  const LayerInfo* info = Find(type);
  if (info != nullptr) return *info;
  if (type == "VideoData") {
    throw Error("moka has no VideoData: it does not read cameras and videos")
        .Hint(
            "write the pictures of the video to files and read them with ImageData, or put an "
            "Input in its place");
  }
  throw Error(Text("unknown layer type \"", type, "\"", DidYouMean(type, Types())))
      .Hint("`moka help layers` lists all types; those of a plug-in need --plugin=FILE");
}

std::vector<std::string> LayerRegistry::Types() const {
  std::vector<std::string> types;
  for (const auto& entry : engines_->by_type) types.push_back(entry.first);
  return types;
}

std::unique_ptr<Layer> LayerRegistry::Create(const LayerParameter& layer, const Context& context,
                                             std::string* chosen) const {
  const LayerInfo& info = Info(layer.type());
  const std::string wanted = WantedEngine(layer, info);
  std::string declined;
  for (const LayerEngine& engine : info.engines) {
    const bool fallback = engine.name == "MOKA";
    if (wanted == "MOKA" && !fallback) continue;
    const std::string reason = engine.declines(layer, context);
    if (reason.empty()) {
      if (chosen != nullptr) *chosen = engine.name + declined;
      return engine.create(layer);
    }
    declined += "; " + engine.name + " declines: " + reason;
  }
  Fail("no engine serves ", layer.type(), " on ", context.device().name(), declined);
}

}  // namespace moka
