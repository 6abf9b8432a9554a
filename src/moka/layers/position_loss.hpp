#pragma once

#include "moka/layers/class_labels.hpp"
#include "moka/layers/loss_normalizer.hpp"

namespace moka {

/// Load functor for SumOfValid: losses that were computed position by position, and which of the
/// positions count.
struct LoadPositionLoss {
  ClassLabels labels;
  const float* loss;
  MOKA_HD ValidSum operator()(int64_t, int64_t position) const {
    return {loss[position], labels.Ignored(position) ? 0.0 : 1.0};
  }
};

}  // namespace moka
