#include "moka/data/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

std::vector<int64_t> Epoch(const RecordOrder& order, int64_t count, int64_t epoch) {
  std::vector<int64_t> records;
  for (int64_t i = 0; i < count; ++i) {
    const RecordOrder::Place place = order.At(epoch * count + i);
    EXPECT_EQ(place.epoch, epoch);
    records.push_back(place.record);
  }
  return records;
}

TEST(RecordOrderTest, WithoutShufflingGoesRoundInOrder) {
  const RecordOrder order(3, false, 1, 1);
  EXPECT_EQ(Epoch(order, 3, 0), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Epoch(order, 3, 1), (std::vector<int64_t>{0, 1, 2}));
}

// promise 24: a permutation in each epoch. Counts around squares, where the network has just room
// or most to spare, and the smallest.
TEST(RecordOrderTest, ShufflesEachRecordOnceAnEpoch) {
  for (const int64_t count : {1, 2, 3, 4, 5, 9, 10, 99, 100, 101, 60000}) {
    const RecordOrder order(count, true, 5, 7);
    for (const int64_t epoch : {0, 1, 1000}) {
      std::vector<int64_t> records = Epoch(order, count, epoch);
      std::sort(records.begin(), records.end());
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(records[i], i) << count << " " << epoch;
    }
  }
}

TEST(RecordOrderTest, EpochsSeedsAndReadersGiveOtherOrders) {
  const std::set<std::vector<int64_t>> orders = {
      Epoch(RecordOrder(50, true, 1, 1), 50, 0), Epoch(RecordOrder(50, true, 1, 1), 50, 1),
      Epoch(RecordOrder(50, true, 2, 1), 50, 0), Epoch(RecordOrder(50, true, 1, 2), 50, 0)};
  EXPECT_EQ(orders.size(), 4u);
  EXPECT_EQ(Epoch(RecordOrder(50, true, 1, 1), 50, 1), Epoch(RecordOrder(50, true, 1, 1), 50, 1));
}

// Chi-squared with 9 degrees of freedom exceeds 27.9 in 1 of 1,000 cases; there are 10 of them
// here, and the seed is fixed.
TEST(RecordOrderTest, EveryRecordComesToEveryPlaceEquallyOften) {
  constexpr int64_t kCount = 10, kEpochs = 10000;
  const RecordOrder order(kCount, true, 3, 4);
  std::vector<std::vector<double>> times(kCount, std::vector<double>(kCount));
  for (int64_t position = 0; position < kEpochs * kCount; ++position) {
    ++times[position % kCount][order.At(position).record];
  }
  for (const auto& row : times) {
    double chi_squared = 0;
    for (const double n : row) chi_squared += (n - 1000) * (n - 1000) / 1000;
    EXPECT_LT(chi_squared, 33);
  }
}

// Neighbours must not stay neighbours: of 60,000 pairs about 2 do so by chance.
TEST(RecordOrderTest, NeighboursAreParted) {
  const std::vector<int64_t> records = Epoch(RecordOrder(60000, true, 1, 1), 60000, 0);
  int together = 0;
  for (size_t i = 1; i < records.size(); ++i)
    together += std::abs(records[i] - records[i - 1]) == 1;
  EXPECT_LT(together, 12);
}

TEST(RecordOrderTest, PositionsAndStatesAreEachOthersInverse) {
  const RecordOrder order(7, true, 1, 1);
  for (int64_t position = 0; position < 50; ++position) {
    EXPECT_EQ(order.PositionOf(order.StateAt(position)), position);
  }
  EXPECT_EQ(order.StateAt(15).epoch, 2);
  EXPECT_EQ(order.StateAt(15).record, 1);
}

TEST(RecordOrderTest, NoRecordsAreAnError) {
  ExpectParts(ErrorOf([] { RecordOrder(0, false, 1, 1); }), {"no records"});
}

}  // namespace
}  // namespace moka
