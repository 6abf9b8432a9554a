#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "moka/layers/registry.hpp"
#include "moka/net/net.hpp"

namespace moka {

/// Makes a Net's layers and blobs from its description.
class NetBuilder {
 public:
  explicit NetBuilder(Net* net) : net_(*net) {}

  void Build(const NetParameter& param, const NetState& state);

 private:
  /// One layer's way through the steps below; an error leaves its tops without a shape.
  void AddLayer(const LayerParameter& param, bool guessed = false);
  void AddTyped(const LayerParameter& param, const LayerInfo* info, bool sound);
  bool TakeBottoms(const LayerParameter& param, NetLayer* added);
  Blob* FindMeant(const LayerParameter& param, const std::string& bottom);
  void MakeTops(const LayerParameter& param, const LayerInfo* info, NetLayer* added);
  void SetUp(NetLayer* added);
  void SetLossWeights(NetLayer* added);
  void AddParams(int layer);
  void ShareParam(int layer, int index, const ParamSpec& spec);
  void FindCopies();
  void FindOutputs();
  void SetParamValues();

  bool Gathering() const { return net_.options_.problems != nullptr; }

  /// Throws the error, or notes it and goes on when all problems are wanted.
  void Report(const Error& error, const LayerParameter& param);

  /// As Report, for what may be wrong only because something misspelt was guessed.
  void ReportUnlessGuessed(const Error& error, const LayerParameter& param);

  Net& net_;
  NetParameter whole_;    // before the filter
  bool guessed_ = false;  // whether the type or a bottom of the layer at hand was guessed
  std::map<std::string, std::string> made_at_;  // blob -> place of the layer that made it
  std::set<std::string> unread_;
  std::set<const Blob*> broken_;  // tops of layers with mistakes: their shapes are unknown
  std::map<std::string, size_t> param_by_name_;  // shared params, as learnable_params' indices
};

/// Settles which layers take part in Backward, which bottoms and params get gradients, and where
/// each top's gradient comes from. Follows Caffe's rules: lr_mult 0 and propagate_down stop
/// gradients, only what leads to a loss is computed, force_backward computes all there is.
void PlanGradients(bool force_backward, const std::vector<Blob*>& outputs,
                   std::vector<NetLayer>* layers);

}  // namespace moka
