#include "moka/data/feed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

using std::chrono::milliseconds;

/// Record r is the two numbers (r, epoch), with label 10 * r. Loading it takes as long, and fails
/// when, the test says.
class NumberSource : public Source {
 public:
  explicit NumberSource(int64_t count) : count_(count) {}

  std::function<void(int64_t record)> on_load = [](int64_t) {};
  mutable std::atomic<int> loaded{0}, readers{0};

  int64_t Count() const override { return count_; }
  std::vector<std::vector<int64_t>> ItemShapes() const override { return {{2}, {}}; }
  std::unique_ptr<Reader> NewReader() const override {
    ++readers;
    return std::make_unique<NumberReader>(*this);
  }

 private:
  class NumberReader : public Reader {
   public:
    explicit NumberReader(const NumberSource& source) : source_(source) {}
    ~NumberReader() override { --source_.readers; }
    void Load(int64_t record, int64_t epoch, const Slot& slot) override {
      source_.on_load(record);
      float* values = slot.Place(0, {2});
      values[0] = static_cast<float>(record);
      values[1] = static_cast<float>(epoch);
      *slot.Place(1, {}) = static_cast<float>(10 * record);
      ++source_.loaded;
    }

   private:
    const NumberSource& source_;
  };

  int64_t count_;
};

FeedOptions Options(int64_t batch_size, int threads) {
  FeedOptions options;
  options.batch_size = batch_size;
  options.threads = threads;
  options.seed = 1;
  options.reader = 2;
  return options;
}

/// The records of the next batches, one after the other.
std::vector<int> Records(Feed* feed, int batches) {
  std::vector<int> records;
  Batch batch;
  for (int i = 0; i < batches; ++i) {
    feed->Next(&batch);
    for (int64_t item = 0; item < feed->batch_size(); ++item) {
      records.push_back(static_cast<int>(batch.arrays[0].values.data()[2 * item]));
      EXPECT_EQ(batch.arrays[1].values.data()[item], 10.0f * records.back());
    }
  }
  return records;
}

TEST(FeedTest, ABatchRunsOverTheEndIntoTheNextEpoch) {
  Feed feed(std::make_shared<NumberSource>(5), Options(3, 1));
  Batch batch;
  feed.Next(&batch);
  EXPECT_EQ(batch.arrays[0].shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(batch.arrays[1].shape, (std::vector<int64_t>{3}));
  feed.Next(&batch);
  const float* values = batch.arrays[0].values.data();
  EXPECT_EQ(std::vector<float>(values, values + 6), (std::vector<float>{3, 0, 4, 0, 0, 1}));
  EXPECT_EQ(feed.state().epoch, 1);
  EXPECT_EQ(feed.state().record, 1);
}

TEST(FeedTest, ABatchMayBeLargerThanTheSource) {
  Feed feed(std::make_shared<NumberSource>(2), Options(5, 3));
  EXPECT_EQ(Records(&feed, 2), (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

// Records that take their time in the opposite order, so that a thread which starts later is ready
// earlier.
TEST(FeedTest, BatchesComeInOrderWhicheverThreadIsFaster) {
  const auto source = std::make_shared<NumberSource>(12);
  source->on_load = [](int64_t record) {
    std::this_thread::sleep_for(milliseconds((11 - record) % 4 * 3));
  };
  Feed feed(source, Options(2, 4));
  EXPECT_EQ(Records(&feed, 6), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

// promise 24 and 26: the order is shuffled, the same for any number of threads.
TEST(FeedTest, ShufflesAlikeForAnyNumberOfThreads) {
  std::vector<std::vector<int>> orders;
  for (const int threads : {1, 4}) {
    FeedOptions options = Options(4, threads);
    options.shuffle = true;
    Feed feed(std::make_shared<NumberSource>(10), options);
    orders.push_back(Records(&feed, 10));
  }
  EXPECT_EQ(orders[0], orders[1]);
  std::vector<int> first(orders[0].begin(), orders[0].begin() + 10);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_NE(first, std::vector<int>(orders[0].begin() + 10, orders[0].begin() + 20));
}

// promise 1: from the state after any batch, another feed goes on with the very next one.
TEST(FeedTest, GoesOnFromAState) {
  FeedOptions options = Options(3, 2);
  options.shuffle = true;
  const auto source = std::make_shared<NumberSource>(7);
  Feed straight(source, options);
  for (int batches = 0; batches < 8; ++batches) {
    Feed resumed(source, options);
    Records(&resumed, 2);  // what it read before is forgotten
    resumed.SetState(straight.state());
    const std::vector<int> next = Records(&straight, 1);
    EXPECT_EQ(Records(&resumed, 1), next);
    EXPECT_EQ(resumed.state().epoch, straight.state().epoch);
    EXPECT_EQ(resumed.state().record, straight.state().record);
  }
}

TEST(FeedTest, AStatePastTheEndIsAnError) {
  Feed feed(std::make_shared<NumberSource>(7), Options(3, 1));
  ExpectParts(ErrorOf([&] { feed.SetState({2, 7}); }), {"record 7 of epoch 2", "7 records"});
}

TEST(FeedTest, RandSkipBeginsLaterAndTheSameWithTheSameSeed) {
  FeedOptions options = Options(1, 1);
  options.rand_skip = 1000;
  const auto source = std::make_shared<NumberSource>(100000);
  std::vector<int> begins;
  for (const int seed : {1, 1, 2}) {
    options.seed = seed;
    Feed feed(source, options);
    begins.push_back(Records(&feed, 1)[0]);
    EXPECT_LT(begins.back(), 1000);
  }
  EXPECT_GT(begins[0], 0);
  EXPECT_EQ(begins[0], begins[1]);
  EXPECT_NE(begins[0], begins[2]);
}

TEST(FeedTest, LoadsNoMoreThanPrefetchAllows) {
  const auto source = std::make_shared<NumberSource>(1000);
  FeedOptions options = Options(5, 3);
  options.prefetch = 2;
  Feed feed(source, options);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(source->loaded, 0);  // nothing before the first Next
  Records(&feed, 1);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(source->loaded, 15);
}

TEST(FeedTest, MeasuresTheWaiting) {
  const auto source = std::make_shared<NumberSource>(10);
  source->on_load = [](int64_t) { std::this_thread::sleep_for(milliseconds(20)); };
  Feed feed(source, Options(1, 1));
  Records(&feed, 2);
  EXPECT_GT(feed.seconds_waiting(), 0.03);
  const double before = feed.seconds_waiting();
  std::this_thread::sleep_for(milliseconds(150));  // all prefetched batches are ready by now
  Records(&feed, 1);
  EXPECT_LT(feed.seconds_waiting() - before, 0.01);
}

TEST(FeedTest, TheErrorOfTheFirstBadRecordComesWithItsBatch) {
  const auto source = std::make_shared<NumberSource>(20);
  source->on_load = [](int64_t record) {
    if (record == 6) std::this_thread::sleep_for(milliseconds(20));  // later than record 7
    if (record == 6 || record == 7) Fail("record ", record, " is bad");
  };
  Feed feed(source, Options(4, 4));
  EXPECT_EQ(Records(&feed, 1), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(ErrorOf([&] { Records(&feed, 1); }), "record 6 is bad");
  EXPECT_EQ(Records(&feed, 1), (std::vector<int>{8, 9, 10, 11}));
}

TEST(FeedTest, OtherExceptionsOfAThreadComeThroughAsWell) {
  const auto source = std::make_shared<NumberSource>(20);
  source->on_load = [](int64_t) { throw std::bad_alloc(); };
  Feed feed(source, Options(4, 2));
  Batch batch;
  EXPECT_THROW(feed.Next(&batch), std::bad_alloc);
}

// promise 13: the next good record stands in for a bad one, whatever the number of threads.
TEST(FeedTest, SkipsBadRecordsWhenTold) {
  for (const int threads : {1, 3}) {
    const auto source = std::make_shared<NumberSource>(6);
    source->on_load = [](int64_t record) {
      if (record == 1 || record == 2 || record == 5) Fail("record ", record, " is bad");
    };
    FeedOptions options = Options(3, threads);
    options.skip_bad_records = true;
    Feed feed(source, options);
    EXPECT_EQ(Records(&feed, 3), (std::vector<int>{0, 3, 3, 3, 4, 0, 0, 3, 3}));
    EXPECT_EQ(feed.state().epoch, 1);
    EXPECT_EQ(feed.state().record, 3);
  }
}

TEST(FeedTest, NothingButBadRecordsIsAnErrorInAnyCase) {
  const auto source = std::make_shared<NumberSource>(12);
  source->on_load = [](int64_t record) { Fail("record ", record, " is bad"); };
  FeedOptions options = Options(1, 1);
  options.skip_bad_records = true;
  Feed feed(source, options);
  ExpectParts(ErrorOf([&] { Records(&feed, 1); }), {"12 bad records in a row", "record 11"});
}

TEST(FeedTest, EndsWhileItsThreadsAreBusy) {
  const auto source = std::make_shared<NumberSource>(1000);
  source->on_load = [](int64_t) { std::this_thread::sleep_for(milliseconds(2)); };
  for (int i = 0; i < 10; ++i) {
    Feed feed(source, Options(3, 4));
    if (i % 2 == 0) Records(&feed, 1);
  }
  EXPECT_EQ(source->readers, 0);
}

TEST(FeedTest, BatchesUseTheirMemoryAgain) {
  FeedOptions options = Options(3, 2);
  options.prefetch = 2;
  Feed feed(std::make_shared<NumberSource>(7), options);
  Batch batch;
  std::set<const float*> addresses;
  for (int i = 0; i < 50; ++i) {
    feed.Next(&batch);
    addresses.insert(batch.arrays[0].values.data());
  }
  EXPECT_LE(addresses.size(), 4u);
}

TEST(FeedTest, BatchSizeAndPrefetchOfZeroAreErrors) {
  const auto source = std::make_shared<NumberSource>(7);
  ExpectParts(ErrorOf([&] { Feed(source, Options(0, 1)); }), {"batch_size is 0"});
  FeedOptions options = Options(1, 1);
  options.prefetch = 0;
  ExpectParts(ErrorOf([&] { Feed(source, options); }), {"prefetch is 0"});
}

}  // namespace
}  // namespace moka
