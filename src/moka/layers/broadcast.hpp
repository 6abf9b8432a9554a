#pragma once

#include "moka/device/reduce.hpp"
#include "moka/layers/axis_view.hpp"
#include "moka/tensor/blob.hpp"

namespace moka {

/// The shape of an operand that a layer learns for axes [axis, axis + num_axes) of its bottom:
/// num_axes -1 for all from `axis` on, 0 for a single number. Throws Error outside.
Shape OperandShape(const Shape& bottom, int axis, int num_axes);

/// The bottom seen around the axes that the operand covers, from `axis` on (from 0 for a single
/// number). Throws Error where lengths differ or the operand reaches past the last axis.
AxisView OperandView(const Shape& bottom, const Shape& operand, int axis);

/// Where a gradient of the operand goes: added to a param's, in the place of a bottom's.
StoreScaled StoreGradient(Context& context, Blob* operand, bool learned);

}  // namespace moka
