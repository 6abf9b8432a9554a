#pragma once

#include <memory>
#include <string>

#include "moka/layers/registry.hpp"

namespace moka {

/// Registers a layer class as the DNNL engine of a type: one at namespace level beside the class.
template <typename LayerClass>
class RegisterDnnl {
 public:
  explicit RegisterDnnl(const std::string& type) {
    LayerEngine engine;
    engine.name = "DNNL";
    engine.declines = [](const LayerParameter&, const Context& context) -> std::string {
      return context.kind() == DeviceKind::kCpu ? "" : "it works on the cpu only";
    };
    engine.create = [](const LayerParameter& param) -> std::unique_ptr<Layer> {
      return std::make_unique<LayerClass>(param);
    };
    LayerRegistry::Get().RegisterEngine(type, engine);
  }
};

}  // namespace moka
