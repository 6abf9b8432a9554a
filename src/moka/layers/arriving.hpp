#pragma once

#include <functional>
#include <vector>

#include "moka/layers/registry.hpp"

namespace moka {

/// A layer that a plug-in's static initialisers register.
struct ArrivingLayer {
  LayerInfo info;
  LayerEngine engine;
};

/// What LayerRegistry::Register is given while `load` runs; none of it is registered. A plug-in is
/// loaded so because nothing may be thrown through the loader of shared objects.
std::vector<ArrivingLayer> LayersArrivingDuring(const std::function<void()>& load);

/// Throws Error where a type is taken or comes twice.
void CheckArriving(const std::vector<ArrivingLayer>& layers);

}  // namespace moka
