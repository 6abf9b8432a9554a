#pragma once

#include <cmath>
#include <cstdint>

#include "moka/base/host_device.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// A sum over positions, and how many of them count.
struct ValidSum {
  double sum;
  double valid;
};

struct SumOfValid {
  using Value = ValidSum;
  static MOKA_HD ValidSum Identity() { return {0, 0}; }
  static MOKA_HD ValidSum Combine(const ValidSum& a, const ValidSum& b) {
    return {a.sum + b.sum, a.valid + b.valid};
  }
};

struct SumOfDoubles {
  using Value = double;
  static MOKA_HD double Identity() { return 0; }
  static MOKA_HD double Combine(double a, double b) { return a + b; }
};

/// What a loss summed over positions is divided by (LossParameter.normalization):
///
///   FULL        the number of positions
///   VALID       the number of positions whose label is not ignored
///   BATCH_SIZE  the number of items
///   NONE        1
///   PRE_FIXED   pre_fixed_normalizer
///
/// Every divisor is at least 1, so that a batch of ignored labels has loss 0.
class LossNormalizer {
 public:
  /// Always the same divisor.
  explicit LossNormalizer(double fixed = 1);

  /// As `normalization` says; without it as the older `normalize` does (true: VALID, false:
  /// BATCH_SIZE); without either as `otherwise`.
  LossNormalizer(const LossParameter& loss, LossParameter::NormalizationMode otherwise,
                 int64_t positions, int64_t items);

  MOKA_HD double Divisor(double valid) const { return fmax(1.0, by_valid_ ? valid : fixed_); }

 private:
  bool by_valid_ = false;
  double fixed_ = 1;
};

}  // namespace moka
