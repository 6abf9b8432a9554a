#include "moka/layers/strided_copy.hpp"

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

constexpr int kMaxAxes = 32;

/// Where rows (all axes but the last) of a part lie.
struct PartRows {
  int axes = 0;  // without the last
  int64_t lengths[kMaxAxes] = {};
  int64_t strides[kMaxAxes] = {};
  int64_t offset = 0;
  int64_t column_stride = 1;
  int64_t rows = 1, columns = 1;

  explicit PartRows(const StridedPart& part) : offset(part.offset) {
    Require(part.shape.axes() <= kMaxAxes, "blobs of more than ", kMaxAxes,
            " axes are not supported here: ", part.shape);
    if (part.shape.axes() == 0) return;
    axes = part.shape.axes() - 1;
    for (int axis = 0; axis < axes; ++axis) {
      lengths[axis] = part.shape[axis];
      strides[axis] = part.strides[axis];
    }
    column_stride = part.strides[axes];
    columns = part.shape[axes];
    rows = part.shape.Count(0, axes);
  }

  MOKA_HD int64_t Begin(int64_t row) const {
    int64_t begin = offset;
    for (int axis = axes - 1; axis >= 0; --axis) {
      const int64_t rest = row / lengths[axis];
      begin += (row - rest * lengths[axis]) * strides[axis];
      row = rest;
    }
    return begin;
  }
};

/// On the CPU a whole row a call, because the place of its beginning is dear; on a GPU one value.
struct CopyRow {
  PartRows part;
  int64_t run;
  bool out_of_part;
  const float* from;
  float* to;
  MOKA_HD void operator()(int64_t row, int64_t column_run) const {
    const int64_t first = column_run * run;
    const int64_t begin = part.Begin(row) + first * part.column_stride;
    const int64_t tight = row * part.columns + first;
    for (int64_t i = 0; i < run; ++i) {
      const int64_t strided = begin + i * part.column_stride;
      if (out_of_part) {
        to[tight + i] = from[strided];
      } else {
        to[strided] = from[tight + i];
      }
    }
  }
};

void CopyRows(Context& context, const StridedPart& part, bool out_of_part, const float* from,
              float* to) {
  const PartRows rows(part);
  if (rows.rows == 0 || rows.columns == 0) return;
  const int64_t run = context.kind() == DeviceKind::kCuda ? 1 : rows.columns;
  ForEach2D(context, rows.rows, rows.columns / run, CopyRow{rows, run, out_of_part, from, to}, run);
}

}  // namespace

std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(shape.axes(), 1);
  for (int axis = shape.axes() - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  }
  return strides;
}

void CopyFromPart(Context& context, const StridedPart& part, const float* from, float* to) {
  CopyRows(context, part, true, from, to);
}

void CopyIntoPart(Context& context, const StridedPart& part, const float* from, float* to) {
  CopyRows(context, part, false, from, to);
}

}  // namespace moka
