#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "moka/device/context.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/tensor/blob.hpp"

namespace moka {

/// Something a layer learns (or, like BatchNorm's averages, keeps): its blob and how it begins.
struct LayerParam {
  std::shared_ptr<Blob> blob;
  FillerParameter filler;
  bool learned = true;  // false: Forward keeps it, solvers leave it alone
};

/// One step of a net: reads bottom blobs and writes top blobs, and the other way round for
/// gradients. A layer is written once and runs on every device: all arithmetic goes through the
/// operations of room `device` on pointers that the tensors give for the Context.
///
/// The net calls SetUp once, Reshape before the first Forward and whenever a bottom's shape has
/// changed, then Forward and Backward. Checks of the user's net throw Error; the net puts the
/// layer's place in front of the message.
class Layer {
 public:
  explicit Layer(const LayerParameter& param) : param_(param) {}
  virtual ~Layer() = default;

  const LayerParameter& param() const { return param_; }
  Phase phase() const { return param_.phase(); }

  /// Checks the layer's fields and declares what it learns with AddParam. Bottoms have their
  /// shapes, no data yet.
  virtual void SetUp(const BlobVector& /*bottoms*/, const BlobVector& /*tops*/) {}

  /// For a layer that reads from outside: gives the tops a likely shape from its fields alone,
  /// where the data is not there. False if nothing is known.
  virtual bool AssumeShapes(const BlobVector& /*tops*/) { return false; }

  /// Checks the bottoms' shapes and resizes the tops. Allocates nothing and reads no data.
  virtual void Reshape(const BlobVector& bottoms, const BlobVector& tops) = 0;

  /// Writes every element of the tops' data.
  virtual void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) = 0;

  /// From the tops' gradients: writes every element of the gradient of each bottom i with
  /// propagate[i], and adds to the gradients of the params that want one (see
  /// `param_propagate`; `Tensor::Accumulate` says whether there is anything to add to).
  virtual void Backward(Context& context, const BlobVector& tops,
                        const std::vector<bool>& propagate, const BlobVector& bottoms) = 0;

  /// Whether the layer has a derivative with respect to bottom i. Labels and the like have none:
  /// asked to propagate there, the net refuses unless force_backward alone asked for it.
  virtual bool Differentiable(int /*bottom*/) const { return true; }

  /// The weight of top i in the net's loss where the prototxt gives none: 1 for the first top of a
  /// loss layer.
  virtual float DefaultLossWeight(int /*top*/) const { return 0; }

  /// Whether Forward lets the top's data share the bottom's (Split, Flatten, Reshape). The net
  /// asks for a copy instead (`set_copies`) where a layer later changes one of them in place.
  virtual bool SharesMemory() const { return false; }
  void set_copies(bool copies) { copies_ = copies; }

  const std::vector<LayerParam>& params() const { return params_; }
  std::vector<LayerParam>& params() { return params_; }

  /// Whether param i wants a gradient; the net sets it from lr_mult.
  bool param_propagate(int i) const {
    return i < static_cast<int>(param_propagate_.size()) && param_propagate_[i];
  }
  void set_param_propagate(int i, bool wanted) {
    if (static_cast<int>(param_propagate_.size()) <= i) param_propagate_.resize(i + 1, true);
    param_propagate_[i] = wanted;
  }

  /// For random layers: the run's seed, known from before SetUp, and the number of the forward
  /// pass, which are the same on every device and after resuming.
  void set_pass(uint64_t seed, int64_t pass) {
    seed_ = seed;
    pass_ = pass;
  }

  /// For layers that read from outside: where reading goes on, to be kept with a snapshot and set
  /// again when training is resumed. False if there is nothing to keep.
  virtual bool GetReaderState(ReaderState* /*state*/) const { return false; }
  virtual void SetReaderState(const ReaderState& /*state*/) {}

  /// For those: how many records one pass over the data has, 0 if that is not known.
  virtual int64_t records() const { return 0; }

  /// For those, before the first Forward: batches end with the data, so that the last one of each
  /// pass may be smaller. Where it has no effect, batches go on with the first record.
  virtual void EndBatchesWithData() {}

  /// For layers that carry values from one Forward to the next: where they are, always in the same
  /// order, to be kept with a snapshot and set again, resized, when training is resumed.
  virtual std::vector<Tensor*> CarriedState() { return {}; }

  /// Seconds that Forward has waited for data so far.
  virtual double seconds_waiting() const { return 0; }

  /// Floating-point operations of one Forward at the present shapes (a multiply-add counts two).
  virtual int64_t Operations(const BlobVector& /*bottoms*/, const BlobVector& tops) const {
    return tops.empty() ? 0 : tops[0]->count();
  }

 protected:
  /// Declares the next param. Where the prototxt carries values (`blobs`), they are used.
  Blob& AddParam(const Shape& shape, const FillerParameter& filler) {
    const std::string name = param_.name() + "[" + std::to_string(params_.size()) + "]";
    params_.push_back({std::make_shared<Blob>(name, shape), filler, true});
    return *params_.back().blob;
  }
  /// Declares the next param, one that Forward keeps up to date: zeros at first.
  Blob& AddStatistic(const Shape& shape) {
    Blob& blob = AddParam(shape, FillerParameter());
    params_.back().learned = false;
    return blob;
  }
  Blob& param_blob(int i) { return *params_[i].blob; }
  bool copies() const { return copies_; }
  uint64_t seed() const { return seed_; }
  int64_t pass() const { return pass_; }

 private:
  LayerParameter param_;
  std::vector<LayerParam> params_;
  std::vector<bool> param_propagate_;
  bool copies_ = false;
  uint64_t seed_ = 0;
  int64_t pass_ = 0;
};

/// A layer without a derivative (Accuracy, ArgMax, data layers): Backward is never needed.
class NoBackwardLayer : public Layer {
 public:
  using Layer::Layer;
  bool Differentiable(int) const override { return false; }
  void Backward(Context&, const BlobVector&, const std::vector<bool>&, const BlobVector&) override {
  }
};

/// A layer with one bottom and one top of the same shape.
class SameShapeLayer : public Layer {
 public:
  using Layer::Layer;
  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    tops[0]->Resize(bottoms[0]->shape());
  }
};

}  // namespace moka
