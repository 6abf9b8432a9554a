#pragma once

#include <string>
#include <vector>

#include "moka/proto/moka.pb.h"

namespace moka {

/// Turns a V1 layer, and a V0 layer inside it, into one of today. `old` is left empty-handed: what
/// is large (blobs) is moved, not copied.
LayerParameter UpgradeLayer(V1LayerParameter* old, std::vector<std::string>* messages);

/// Puts what the V0 layer `old` says on top of `layer`, whose source has its fields' places under
/// "layer.". Fields that its type has no use for are named in `messages`.
void UpgradeV0(V0LayerParameter* old, LayerParameter* layer, std::vector<std::string>* messages);

/// Removes V0's padding layers from `net->layers` and gives their pad to the layers behind.
void FoldPadding(NetParameter* net);

/// Puts the ReLU that a convolution of the OpenCL fork has fused (fuse_type) behind it as a layer
/// of its own, in place. Returns whether there was one.
bool SplitFused(NetParameter* net);

/// NVIDIA's older form of BatchNorm: a scale_filler alone says that scale and bias are learned, and
/// the first two param entries, not the last two of five, are theirs. Returns whether it was that.
bool UpgradeScaleBias(LayerParameter* layer);

/// Renames the field `from` (and all below it) to `to` in a list of places. A "%" in `to` takes the
/// index of `from`: "blobs_lr[1]" to "param%.lr_mult" gives "param[1].lr_mult".
void RenamePlace(const std::string& from, const std::string& to, SourcePlace* source);

/// RenamePlace in the source of a layer or a solver, if it has one.
template <typename Owner>
void RenameField(const std::string& from, const std::string& to, Owner* owner) {
  if (owner->has_source()) RenamePlace(from, to, owner->mutable_source());
}

/// Moves V1's and V0's two lists of factors into the param specs of a layer.
template <typename Old>
void UpgradeFactors(const Old& old, LayerParameter* layer) {
  const auto spec = [layer](int i) {
    while (layer->param_size() <= i) layer->add_param();
    return layer->mutable_param(i);
  };
  for (int i = 0; i < old.blobs_lr_size(); ++i) spec(i)->set_lr_mult(old.blobs_lr(i));
  for (int i = 0; i < old.weight_decay_size(); ++i) spec(i)->set_decay_mult(old.weight_decay(i));
}

}  // namespace moka
