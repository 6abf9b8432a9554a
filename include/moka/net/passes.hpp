#pragma once

#include "moka/proto/moka.pb.h"

namespace moka {

/// The passes that prepare a net: each turns one description into another, and can be tested as
/// text. They run in the order of this header, after the upgrade of old formats
/// (proto/upgrade.hpp).

/// Whether a rule of a layer's `include` or `exclude` holds in the state.
bool RuleHolds(const NetStateRule& rule, const NetState& state);

/// The layers that belong to a net in `state`: those whose `include` has a rule that holds, or
/// that have no `include` and no `exclude` rule that holds. Sets every layer's phase.
/// Throws Error for a layer with both.
NetParameter FilterLayers(const NetParameter& net, const NetState& state);

/// Puts a Split layer behind every blob that several layers read, so that each reader has a
/// gradient of its own. A `loss_weight` on a blob that is also read counts as a reader and moves to
/// the split's first top. Names follow Caffe: `conv1_relu1_0_split_1`.
NetParameter InsertSplits(const NetParameter& net);

}  // namespace moka
