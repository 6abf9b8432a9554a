#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "moka/layers/layer.hpp"

namespace moka {

/// How many bottoms or tops a layer takes, and what they are, for checks and `moka help layer`.
struct Arity {
  int min = 0;
  int max = 0;
  std::string meaning;

  static constexpr int kAny = 1 << 20;
};

/// An implementation of a layer type: the yardstick `MOKA`, or a faster engine.
struct LayerEngine {
  std::string name;
  /// Empty if the engine can serve the layer on this device, else why it declines.
  std::function<std::string(const LayerParameter&, const Context&)> declines;
  std::function<std::unique_ptr<Layer>(const LayerParameter&)> create;
};

/// What is known about a layer type.
class LayerInfo {
 public:
  explicit LayerInfo(const std::string& type) : type_(type) {}

  LayerInfo& Summary(const std::string& summary) { return Set(&summary_, summary); }

  /// The message that configures it, as named in LayerParameter: "pooling_param".
  LayerInfo& Field(const std::string& field) { return Set(&field_, field); }

  /// Exactly `count`, or from `min` to `max` (Arity::kAny for any number).
  LayerInfo& Bottoms(int count, const std::string& meaning) {
    return Bottoms(count, count, meaning);
  }
  LayerInfo& Bottoms(int min, int max, const std::string& meaning) {
    return Set(&bottoms_, Arity{min, max, meaning});
  }
  LayerInfo& Tops(int count, const std::string& meaning) { return Tops(count, count, meaning); }
  LayerInfo& Tops(int min, int max, const std::string& meaning) {
    return Set(&tops_, Arity{min, max, meaning});
  }

  /// As many tops as bottoms.
  LayerInfo& OneTopABottom() { return Set(&one_top_a_bottom_, true); }

  /// The net makes the tops that the prototxt leaves out, up to the required number (loss layers).
  LayerInfo& MakesMissingTops() { return Set(&makes_missing_tops_, true); }

  /// A top may be written over its bottom.
  LayerInfo& InPlace() { return Set(&in_place_, true); }

  /// Reads data from outside: has no bottoms and gives batches.
  LayerInfo& Source() { return Set(&source_, true); }

  const std::string& type() const { return type_; }
  const std::string& summary() const { return summary_; }
  const std::string& field() const { return field_; }
  const Arity& bottoms() const { return bottoms_; }
  const Arity& tops() const { return tops_; }
  bool one_top_a_bottom() const { return one_top_a_bottom_; }
  bool makes_missing_tops() const { return makes_missing_tops_; }
  bool in_place() const { return in_place_; }
  bool source() const { return source_; }

  /// Throws Error if the layer's numbers of bottoms and tops do not fit.
  void CheckArity(const LayerParameter& layer) const;

  std::vector<LayerEngine> engines;  // fastest first, `MOKA` last

 private:
  template <typename Member, typename Value>
  LayerInfo& Set(Member* member, const Value& value) {
    *member = value;
    return *this;
  }

  std::string type_, summary_, field_;
  Arity bottoms_, tops_;
  bool one_top_a_bottom_ = false;
  bool makes_missing_tops_ = false;
  bool in_place_ = false;
  bool source_ = false;
};

/// All layer types known to this process, filled while the program (and each plug-in) is loaded.
class LayerRegistry {
 public:
  static LayerRegistry& Get();

  void Register(const LayerInfo& info, const LayerEngine& engine);

  /// Adds a faster engine to a type, in front of those it has.
  void RegisterEngine(const std::string& type, const LayerEngine& engine);

  /// Null if there is no such type.
  const LayerInfo* Find(const std::string& type) const;

  /// Throws Error that suggests the nearest type.
  const LayerInfo& Info(const std::string& type) const;

  /// In alphabetical order.
  std::vector<std::string> Types() const;

  /// A layer by the fastest engine that serves it on the device, or the one that the layer's
  /// `engine` asks for. `chosen`, if not null, gets the engine's name and why others declined.
  std::unique_ptr<Layer> Create(const LayerParameter& layer, const Context& context,
                                std::string* chosen = nullptr) const;

 private:
  struct Engines;
  LayerRegistry();
  std::shared_ptr<Engines> engines_;
};

/// Registers a layer class at load time: one at namespace level beside the class.
///
///     const RegisterLayer<ReLULayer> kRegistration(
///         LayerInfo("ReLU").Summary("max(0, x)").Field("relu_param").Bottoms(1, "any shape")
///             .Tops(1, "same shape").InPlace());
template <typename LayerClass>
class RegisterLayer {
 public:
  explicit RegisterLayer(const LayerInfo& info) {
    LayerEngine engine;
    engine.name = "MOKA";
    engine.declines = [](const LayerParameter&, const Context&) { return std::string(); };
    engine.create = [](const LayerParameter& param) -> std::unique_ptr<Layer> {
      return std::make_unique<LayerClass>(param);
    };
    LayerRegistry::Get().Register(info, engine);
  }
};

}  // namespace moka
