#pragma once

#include <cstdint>

#include "moka/base/philox.hpp"

namespace moka {

/// The random numbers of one record in one epoch, one after the other: a function of (seed, reader,
/// epoch, record) and of how many were drawn before.
class Draws {
 public:
  Draws(const Philox& random, int64_t epoch, int64_t record)
      : random_(random), epoch_(epoch), record_(record) {}

  /// In [low, high).
  float Uniform(float low, float high) {
    return low + (high - low) * (static_cast<float>(Word() >> 8) * (1.0f / 16777216.0f));
  }

  /// In [0, n), n >= 1.
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(static_cast<uint64_t>(Word()) * static_cast<uint64_t>(n) >> 32);
  }

  /// In [low, high].
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }

  bool Chance(float probability) { return Uniform(0, 1) < probability; }

 private:
  uint32_t Word() {
    if (next_ == 4) {
      // Block 0 belongs to the crop.
      block_ = random_(epoch_, ++number_ << 48 | static_cast<uint64_t>(record_));
      next_ = 0;
    }
    return block_.word[next_++];
  }

  Philox random_;
  int64_t epoch_, record_;
  uint64_t number_ = 0;
  Philox::Block block_ = {};
  int next_ = 4;
};

}  // namespace moka
