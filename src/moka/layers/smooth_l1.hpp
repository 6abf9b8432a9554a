#pragma once

#include <cmath>

#include "moka/base/host_device.hpp"

namespace moka {

/// f(d) = (sigma d)^2 / 2 where |d| < 1 / sigma^2, else |d| - 1 / (2 sigma^2).
struct SmoothMagnitude {
  float sigma_squared = 1;
  MOKA_HD float Value(float d) const {
    const float size = fabsf(d);
    return size < 1 / sigma_squared ? 0.5f * d * d * sigma_squared : size - 0.5f / sigma_squared;
  }
  MOKA_HD float Slope(float d) const {
    if (fabsf(d) < 1 / sigma_squared) return d * sigma_squared;
    return d > 0 ? 1.0f : -1.0f;
  }
};

}  // namespace moka
