#pragma once

#include "moka/device/context.hpp"
#include "moka/layers/axis_view.hpp"

namespace moka {

/// y = softmax of x along the view's axis; x and y may be the same array.
void SoftmaxForward(Context& context, const AxisView& view, const float* x, float* y);

/// dx = y * (dy - sum along the axis of dy * y); dx and dy may be the same array.
void SoftmaxBackward(Context& context, const AxisView& view, const float* y, const float* dy,
                     float* dx);

}  // namespace moka
