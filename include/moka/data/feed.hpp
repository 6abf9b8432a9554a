#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "moka/data/order.hpp"
#include "moka/data/source.hpp"

namespace moka {

struct FeedOptions {
  int64_t batch_size = 1;
  /// Batches that are ready or in work ahead of the consumer, at least 1.
  int64_t prefetch = 4;
  /// Threads that load records; 0 takes one for each core.
  int threads = 0;
  bool shuffle = false;
  uint64_t seed = 0;
  /// Tells apart readers that share a seed (see StreamOf).
  uint64_t reader = 0;
  /// Skips a random number of records, below this one, at the very beginning.
  uint32_t rand_skip = 0;
  /// A bad record is an error, or is passed over with one warning; the next good one then stands in
  /// for it.
  bool skip_bad_records = false;
};

/// Reads a Source ahead: several threads load records straight into the batches that come next, and
/// Next hands these out in order. At the end of the records it begins again, inside a batch if need
/// be. What comes is a function of the options and the state only, not of the threads.
///
/// One thread consumes; seconds_waiting and state belong to it as well.
class Feed {
 public:
  /// Throws Error for a batch size or prefetch of 0, and for a source without records. Loading
  /// begins with the first call of Next.
  Feed(std::shared_ptr<const Source> source, const FeedOptions& options);

  /// Waits for the records that are being loaded right now.
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// The shapes of a batch's arrays, N x (the shape of an item). With a batch size of 1 those of a
  /// batch can differ.
  std::vector<std::vector<int64_t>> Shapes() const;

  /// Swaps the next batch into `batch`, whose old memory is used again. Throws what loading the
  /// batch threw (an Error that names the record); the next call then gives the batch after it.
  void Next(Batch* batch);

  /// Where reading goes on after the batch that was handed out last.
  FeedState state() const { return state_; }

  /// Goes on from there: the next batch is the one that would have come. Throws Error when there
  /// are fewer records than the state says.
  void SetState(const FeedState& state);

  /// From the next batch on, batches end with the epoch: the last one may have fewer items. Else
  /// they go on with the first record.
  void EndBatchesWithEpoch();

  /// Records in one epoch.
  int64_t count() const { return count_; }

  int64_t batch_size() const { return options_.batch_size; }

  /// How long Next has waited for data so far.
  double seconds_waiting() const { return seconds_waiting_; }

 private:
  /// A batch in work. Its items are claimed and loaded in runs.
  struct Job {
    Batch batch;
    int64_t position = 0;  // of its first item
    int64_t items = 0;
    int64_t claimed = 0, loaded = 0;
    int64_t failed_item = 0;
    std::exception_ptr error;
  };

  void Start();
  void Work();
  bool CanClaim() const;
  std::shared_ptr<Job> Claim(int64_t* begin, int64_t* end);
  void Prepare(int64_t items, Batch* batch) const;
  void LoadItem(Source::Reader* reader, Job* job, int64_t item);
  void WarnOnce(int64_t record, const char* what);

  const std::shared_ptr<const Source> source_;
  const FeedOptions options_;
  const int64_t count_;
  const RecordOrder order_;
  const std::vector<std::vector<int64_t>> shapes_;
  int64_t run_ = 1;  // items that a thread claims at once

  // The consumer's own.
  FeedState state_;
  double seconds_waiting_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_, ready_;
  std::deque<std::shared_ptr<Job>> jobs_;  // in order; only the last may have unclaimed items
  std::vector<Batch> spare_;
  int64_t next_position_ = 0;
  bool end_with_epoch_ = false;
  std::set<int64_t> warned_;
  bool stopping_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace moka
