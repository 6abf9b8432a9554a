#include "moka/data/order.hpp"

#include "moka/base/error.hpp"

namespace moka {

RecordOrder::RecordOrder(int64_t count, bool shuffle, uint64_t seed, uint64_t reader)
    : count_(count), shuffle_(shuffle), random_(Philox::For(seed, reader + 1)) {
  Require(count > 0, "there are no records");
  while (side_ * side_ < static_cast<uint64_t>(count)) ++side_;
}

RecordOrder::Place RecordOrder::At(int64_t position) const {
  const FeedState state = StateAt(position);
  return {state.epoch, shuffle_ ? Shuffled(state.epoch, state.record) : state.record};
}

int64_t RecordOrder::Shuffled(int64_t epoch, int64_t place) const {
  constexpr uint64_t kRounds = 6;
  uint64_t value = place;
  // The network permutes side x side values; those past the count are sent through it again.
  do {
    uint64_t left = value / side_, right = value % side_;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t mixed = (left + random_.Word(epoch, round << 48 | right)) % side_;
      left = right;
      right = mixed;
    }
    value = left * side_ + right;
  } while (value >= static_cast<uint64_t>(count_));
  return static_cast<int64_t>(value);
}

}  // namespace moka
