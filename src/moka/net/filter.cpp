#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/net/passes.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

bool HasStage(const NetState& state, const std::string& stage) {
  return std::find(state.stage().begin(), state.stage().end(), stage) != state.stage().end();
}

bool Belongs(const LayerParameter& layer, const NetState& state) {
  if (layer.include_size() > 0 && layer.exclude_size() > 0) {
    throw Error("has both include and exclude rules")
        .Hint("state what to include or what to exclude, not both")
        .In(LayerPlace(layer));
  }
  const auto holds = [&](const NetStateRule& rule) { return RuleHolds(rule, state); };
  if (layer.include_size() > 0) {
    return std::any_of(layer.include().begin(), layer.include().end(), holds);
  }
  return std::none_of(layer.exclude().begin(), layer.exclude().end(), holds);
}

}  // namespace

bool RuleHolds(const NetStateRule& rule, const NetState& state) {
  const auto has = [&](const std::string& stage) { return HasStage(state, stage); };
  return (!rule.has_phase() || rule.phase() == state.phase()) &&
         (!rule.has_min_level() || state.level() >= rule.min_level()) &&
         (!rule.has_max_level() || state.level() <= rule.max_level()) &&
         std::all_of(rule.stage().begin(), rule.stage().end(), has) &&
         std::none_of(rule.not_stage().begin(), rule.not_stage().end(), has);
}

NetParameter FilterLayers(const NetParameter& net, const NetState& state) {
  NetParameter kept = net;
  kept.clear_layer();
  *kept.mutable_state() = state;
  for (const LayerParameter& layer : net.layer()) {
    if (!Belongs(layer, state)) continue;
    LayerParameter* added = kept.add_layer();
    *added = layer;
    if (!added->has_phase()) added->set_phase(state.phase());
  }
  return kept;
}

}  // namespace moka
