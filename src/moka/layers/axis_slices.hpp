#pragma once

#include "moka/device/context.hpp"
#include "moka/layers/axis_view.hpp"

namespace moka {

/// Copies an array into positions [begin, begin + part.axis) of the same axis of a larger one,
/// whose axis has length `whole`.
void CopyIntoAxis(Context& context, const AxisView& part, const float* from, int64_t whole,
                  int64_t begin, float* to);

/// The other way round.
void CopyFromAxis(Context& context, const AxisView& part, const float* from, int64_t whole,
                  int64_t begin, float* to);

}  // namespace moka
