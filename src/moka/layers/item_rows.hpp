#pragma once

#include <cstdint>

#include "moka/device/for_each.hpp"

namespace moka {

/// Row i of `to` is row `rows[i]` of `from`, or zeros where that is negative.
struct PickRows {
  const int32_t* rows;
  int64_t length;
  const float* from;
  float* to;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t source = rows[row];
    to[row * length + column] = source < 0 ? 0.0f : from[source * length + column];
  }
};

}  // namespace moka
