#include "moka/layers/broadcast.hpp"

#include "moka/base/error.hpp"

namespace moka {

Shape OperandShape(const Shape& bottom, int axis, int num_axes) {
  Require(num_axes >= -1, "num_axes is ", num_axes,
          ", but must be -1 (all from axis on), 0 (a single number) or positive");
  if (num_axes == 0) return Shape();
  const int begin = bottom.Axis(axis);
  if (num_axes == -1) return bottom.Slice(begin, bottom.axes());
  Require(begin + num_axes <= bottom.axes(), "axis ", axis, " and num_axes ", num_axes,
          " reach past the last axis of a bottom with ", bottom.axes(), " axes (", bottom, ")");
  return bottom.Slice(begin, begin + num_axes);
}

AxisView OperandView(const Shape& bottom, const Shape& operand, int axis) {
  const int begin = operand.axes() == 0 ? 0 : bottom.Axis(axis);
  const int end = begin + operand.axes();
  Require(end <= bottom.axes(), "the operand (", operand, ") from axis ", begin,
          " on reaches past the last axis of the bottom (", bottom, ")");
  Require(bottom.Slice(begin, end) == operand, "the operand is ", operand, ", but the bottom (",
          bottom, ") is ", bottom.Slice(begin, end), " from axis ", begin, " on");
  return {bottom.Count(0, begin), operand.Count(), bottom.Count(end)};
}

StoreScaled StoreGradient(Context& context, Blob* operand, bool learned) {
  float beta = 0;
  float* gradient =
      learned ? operand->diff().Accumulate(context, &beta) : operand->diff().Write(context);
  return {gradient, 1, beta};
}

}  // namespace moka
