#pragma once

#include <cstdint>

#include "moka/base/philox.hpp"

namespace moka {

/// Where a reader is: in epoch `epoch`, before place `record` of its order (0 <= record < count).
struct FeedState {
  int64_t epoch = 0;
  int64_t record = 0;
};

/// The order in which records are read, as a function: one epoch after the other, each record once
/// an epoch, in the order of the database or shuffled anew for each epoch.
///
/// Shuffling is a Feistel network on pairs (Black and Rogaway, "Ciphers with arbitrary finite
/// domains", CT-RSA 2002) with Philox for its rounds, so that nothing has to be stored.
class RecordOrder {
 public:
  /// `count` records, at least 1. `reader` tells apart readers that share a seed (see StreamOf).
  RecordOrder(int64_t count, bool shuffle, uint64_t seed, uint64_t reader);

  struct Place {
    int64_t epoch;
    int64_t record;  ///< the number of the record in the database
  };

  /// What is read at `position`, counted from the first record of epoch 0.
  Place At(int64_t position) const;

  int64_t PositionOf(const FeedState& state) const { return state.epoch * count_ + state.record; }
  FeedState StateAt(int64_t position) const { return {position / count_, position % count_}; }

 private:
  int64_t Shuffled(int64_t epoch, int64_t place) const;

  int64_t count_;
  bool shuffle_;
  uint64_t side_ = 1;
  Philox random_;
};

}  // namespace moka
