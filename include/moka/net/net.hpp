#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "moka/layers/layer.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// What the solver learns: one entry for each parameter blob, shared ones once.
struct LearnableParam {
  std::shared_ptr<Blob> blob;
  int layer;  // the owner's position, and which of its params
  int index;
  float lr_mult = 1;
  float decay_mult = 1;
};

/// Where the gradient of a top comes from: the layer that reads it, the caller (the top is an
/// output of the net), or nowhere, so that it is zero.
enum class TopGradient { kReader, kCaller, kNone };

/// A layer in its net.
struct NetLayer {
  std::unique_ptr<Layer> layer;
  std::string engine;  // its name, and why faster ones declined
  BlobVector bottoms;
  BlobVector tops;
  std::vector<bool> propagate;      // for each bottom: whether its gradient is computed
  std::vector<float> loss_weights;  // for each top
  std::vector<TopGradient> top_gradients;
  bool backward = false;            // whether the layer takes part in Backward
  std::vector<Shape> known_shapes;  // of the bottoms at the last Reshape

  const LayerParameter& param() const { return layer->param(); }
  const std::string& name() const { return layer->param().name(); }
};

/// What a text with mistakes leaves unknown about a net, so that these mistakes are not reported
/// once more as others that follow from them.
struct NetDoubts {
  /// Whether there is any doubt.
  bool any = false;
  /// Whether something in the layer could not be understood.
  std::function<bool(const LayerParameter&)> layer;
  /// Whether a blob of that name may have stood where the text could not be understood.
  std::function<bool(const std::string&)> blob;
};

struct NetOptions {
  /// The seed of fillers and of random layers.
  uint64_t seed = 1;
  /// Whether params get their first values; without, building a net costs no memory.
  bool fill_params = true;
  /// If not null, mistakes are gathered here instead of thrown, so that `moka check` can report
  /// all of them; a net with mistakes cannot run. Misspelt types and bottoms are taken for what
  /// they were probably meant to be, and layers behind a mistake are checked as far as it matters
  /// to none of the shapes they might have.
  std::vector<std::string>* problems = nullptr;
  /// If not null, data that is not there is noted here and its shape assumed.
  std::vector<std::string>* notes = nullptr;
  /// If not null, mistakes that may follow from it are not reported.
  const NetDoubts* doubts = nullptr;
};

/// Layers in order, with the blobs between them.
///
/// Built from a description by passes (upgrade, filter by the description's own state and `state`
/// on top of it, splits), then layer by layer
/// with shapes checked; which gradients are needed is settled then, too. Throws Error with the
/// file, line and layer of whatever is wrong. Memory is taken when first written.
class Net {
 public:
  Net(const NetParameter& param, const NetState& state, std::shared_ptr<Context> context,
      const NetOptions& options = NetOptions());
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  const std::string& name() const { return param_.name(); }

  /// The description after all passes.
  const NetParameter& param() const { return param_; }
  Phase phase() const { return param_.state().phase(); }
  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }

  const std::vector<NetLayer>& layers() const { return layers_; }
  std::vector<NetLayer>& layers() { return layers_; }

  /// The position of a layer, -1 if there is none of that name.
  int LayerIndex(const std::string& name) const;

  /// A blob by name: its last version where layers work in place. Null if there is none.
  Blob* FindBlob(const std::string& name) const;
  /// Throws Error that suggests the nearest name.
  Blob& blob(const std::string& name) const;
  const std::vector<std::unique_ptr<Blob>>& blobs() const { return blobs_; }

  /// The tops of Input layers in order, and what no layer reads in byte order of the names.
  const std::vector<Blob*>& inputs() const { return inputs_; }
  const std::vector<Blob*>& outputs() const { return outputs_; }

  /// The weight of an output in the loss.
  float output_loss_weight(size_t output) const { return output_loss_weights_[output]; }

  const std::vector<LearnableParam>& learnable_params() const { return learnable_params_; }

  /// Runs all layers; layers whose bottoms changed shape are reshaped first.
  void Forward() { Forward(0, static_cast<int>(layers_.size())); }
  /// Runs layers [begin, end).
  void Forward(int begin, int end);

  /// Gradients of all blobs and params that need one. Those of params are added to what is there.
  void Backward() { Backward(static_cast<int>(layers_.size()), 0); }
  /// Runs layers [end, begin) backwards, from begin - 1 down to end.
  void Backward(int begin, int end);

  /// Brings all shapes up to date after inputs were resized, without computing.
  void Reshape();

  /// The weighted sum of all losses of the last Forward.
  double Loss() const;

  void ClearParamDiffs();

  /// Uses the params of `other` (by layer name) for the layers of this net, which must have the
  /// same shapes: a test net so follows the net in training.
  void ShareParamsWith(const Net& other);

  /// The number of the next forward pass, which random layers draw by; counts up by itself.
  void set_pass(int64_t pass) { pass_ = pass; }
  int64_t pass() const { return pass_; }

  /// Called before and after each layer when set (`moka time`, debug_info).
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void Before(int layer, bool backward) = 0;
    virtual void After(int layer, bool backward) = 0;
  };
  void set_observer(Observer* observer) { observer_ = observer; }

 private:
  friend class NetBuilder;

  void ReshapeIfNeeded(NetLayer& layer, bool first);
  void PrepareTopGradients(NetLayer& layer);

  NetParameter param_;
  NetOptions options_;
  std::shared_ptr<Context> context_;
  std::vector<NetLayer> layers_;
  std::vector<std::unique_ptr<Blob>> blobs_;
  std::map<std::string, Blob*> blob_by_name_;
  std::vector<Blob*> inputs_;
  std::vector<Blob*> outputs_;
  std::vector<float> output_loss_weights_;
  std::vector<LearnableParam> learnable_params_;
  int64_t pass_ = 0;
  Observer* observer_ = nullptr;
};

}  // namespace moka
