#include "moka/base/ordered_work.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <string>

#include "moka/base/error.hpp"

namespace moka {
namespace {

std::function<int64_t(int64_t)> Square() {
  return [](int64_t i) {
    if (i % 7 == 0) std::this_thread::yield();
    return i * i;
  };
}

TEST(WorkInOrder, TakesResultsInOrderWithAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 5}) {
    for (const int64_t count : {0, 1, 3, 1000}) {
      std::vector<int64_t> taken;
      WorkInOrder<int64_t>(count, threads, Square, [&](int64_t number, int64_t square) {
        EXPECT_EQ(number, static_cast<int64_t>(taken.size()));
        taken.push_back(square);
      });
      ASSERT_EQ(static_cast<int64_t>(taken.size()), count);
      for (int64_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], i * i);
    }
  }
}

TEST(WorkInOrder, StaysNearWhatIsTaken) {
  std::atomic<int64_t> taken{0}, farthest{0};
  const auto make = [&]() -> std::function<int(int64_t)> {
    return [&](int64_t i) {
      const int64_t ahead = i - taken;
      if (ahead > farthest) farthest = ahead;
      return 0;
    };
  };
  WorkInOrder<int>(5000, 2, make, [&](int64_t number, int) { taken = number; });
  EXPECT_LE(farthest, 2 * 16 + 1);
}

TEST(WorkInOrder, PassesOnTheFirstErrorOfWorkAndOfTaking) {
  const auto fail = []() -> std::function<int(int64_t)> {
    return [](int64_t i) -> int {
      if (i == 30 || i == 31) Fail("piece ", i);
      return 0;
    };
  };
  int64_t taken = 0;
  try {
    WorkInOrder<int>(1000, 4, fail, [&](int64_t, int) { ++taken; });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "piece 30");
  }
  EXPECT_EQ(taken, 30);
  EXPECT_THROW(WorkInOrder<int64_t>(1000, 3, Square,
                                    [](int64_t number, int64_t) {
                                      if (number == 5) Fail("full");
                                    }),
               Error);
}

}  // namespace
}  // namespace moka
