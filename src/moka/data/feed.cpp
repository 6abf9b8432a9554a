#include "moka/data/feed.hpp"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include "moka/base/error.hpp"

namespace moka {
namespace {

// More bad records in a row than this are no accident.
constexpr int kMostBadInARow = 100;

}  // namespace

Feed::Feed(std::shared_ptr<const Source> source, const FeedOptions& options)
    : source_(std::move(source)),
      options_(options),
      count_(source_->Count()),
      order_(count_, options.shuffle, options.seed, options.reader),
      shapes_(source_->ItemShapes()) {
  Require(options.batch_size > 0, "batch_size is 0");
  Require(options.prefetch > 0, "prefetch is 0, and at least one batch must be in work");
  FeedState begin;
  if (options.rand_skip > 0) {
    const Philox random = Philox::For(options.seed, options.reader + 2);
    begin = order_.StateAt(random.Below(options.rand_skip, 0, 0));
  }
  SetState(begin);
}

Feed::~Feed() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::vector<int64_t>> Feed::Shapes() const {
  std::vector<std::vector<int64_t>> shapes = shapes_;
  for (auto& shape : shapes) shape.insert(shape.begin(), options_.batch_size);
  return shapes;
}

void Feed::Start() {
  const int cores = std::max(1u, std::thread::hardware_concurrency());
  const int threads = options_.threads > 0 ? options_.threads : cores;
  constexpr int64_t kLongestRun = 16;
  run_ = std::clamp<int64_t>(options_.batch_size / threads, 1, kLongestRun);
  for (int i = 0; i < threads; ++i) threads_.emplace_back(&Feed::Work, this);
}

void Feed::Next(Batch* batch) {
  if (threads_.empty()) Start();
  std::shared_ptr<Job> job;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto begin = std::chrono::steady_clock::now();
    ready_.wait(lock,
                [this] { return !jobs_.empty() && jobs_.front()->loaded == jobs_.front()->items; });
    seconds_waiting_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    job = std::move(jobs_.front());
    jobs_.pop_front();
    state_ = job->batch.next;
    if (!job->error) std::swap(*batch, job->batch);
    spare_.push_back(std::move(job->batch));
  }
  work_.notify_all();
  if (job->error) std::rethrow_exception(job->error);
}

void Feed::SetState(const FeedState& state) {
  Require(state.epoch >= 0 && state.record >= 0 && state.record < count_,
          "cannot go on from record ", state.record, " of epoch ", state.epoch, ": there are ",
          count_, " records");
  state_ = state;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.clear();  // a thread that still loads one of them keeps it alive
    next_position_ = order_.PositionOf(state);
  }
  work_.notify_all();
}

void Feed::EndBatchesWithEpoch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_with_epoch_ = true;
  }
  SetState(state_);
}

void Feed::Work() {
  std::unique_ptr<Source::Reader> reader;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || CanClaim(); });
    if (stopping_) return;
    int64_t begin, end;
    const std::shared_ptr<Job> job = Claim(&begin, &end);
    lock.unlock();
    int64_t item = begin;
    std::exception_ptr error;
    try {
      if (!reader) reader = source_->NewReader();
      for (; item < end; ++item) LoadItem(reader.get(), job.get(), item);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    // Of several bad records the first one is told, whichever thread was faster.
    if (error && (!job->error || item < job->failed_item)) {
      job->error = error;
      job->failed_item = item;
    }
    job->loaded += end - begin;
    if (job->loaded == job->items) ready_.notify_one();
  }
}

bool Feed::CanClaim() const {
  const bool unclaimed = !jobs_.empty() && jobs_.back()->claimed < jobs_.back()->items;
  return unclaimed || static_cast<int64_t>(jobs_.size()) < options_.prefetch;
}

std::shared_ptr<Feed::Job> Feed::Claim(int64_t* begin, int64_t* end) {
  if (jobs_.empty() || jobs_.back()->claimed == jobs_.back()->items) {
    const auto job = std::make_shared<Job>();
    job->position = next_position_;
    const int64_t left = count_ - next_position_ % count_;
    job->items = end_with_epoch_ ? std::min(options_.batch_size, left) : options_.batch_size;
    next_position_ += job->items;
    if (!spare_.empty()) {
      job->batch = std::move(spare_.back());
      spare_.pop_back();
    }
    Prepare(job->items, &job->batch);
    job->batch.next = order_.StateAt(next_position_);
    jobs_.push_back(job);
  }
  const std::shared_ptr<Job>& job = jobs_.back();
  *begin = job->claimed;
  *end = job->claimed = std::min(job->claimed + run_, job->items);
  return job;
}

void Feed::Prepare(int64_t items, Batch* batch) const {
  batch->arrays.resize(shapes_.size());
  batch->rows.resize(options_.batch_size);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    BatchArray& array = batch->arrays[i];
    array.shape = shapes_[i];
    array.shape.insert(array.shape.begin(), items);
    array.values.Resize(std::accumulate(array.shape.begin(), array.shape.end(), int64_t{1},
                                        std::multiplies<int64_t>()));
  }
}

void Feed::LoadItem(Source::Reader* reader, Job* job, int64_t item) {
  const Slot slot(&job->batch, item, job->items);
  for (int64_t bad = 0;; ++bad) {
    const RecordOrder::Place place = order_.At(job->position + item + bad);
    try {
      return reader->Load(place.record, place.epoch, slot);
    } catch (Error& e) {
      if (!options_.skip_bad_records) throw;
      WarnOnce(place.record, e.what());
      if (bad + 1 >= std::min<int64_t>(kMostBadInARow, count_)) {
        throw e.In(Text(bad + 1, " bad records in a row, the last of them"));
      }
    }
  }
}

void Feed::WarnOnce(int64_t record, const char* what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (warned_.insert(record).second) LOG(WARNING) << "skipped: " << what;
}

}  // namespace moka
