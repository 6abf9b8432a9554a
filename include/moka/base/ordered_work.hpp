#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace moka {

/// Does `count` pieces of work in several threads and takes the results in order, in the calling
/// thread, so that what comes out does not depend on the threads.
///
/// `make_worker()` is called once in each thread and gives a function of the piece's number;
/// `take(number, result)` gets what it returned. 0 threads takes one for each core. Only some
/// pieces a thread are in work ahead of `take`. What a worker or `take` throws ends the work and
/// passes on; of several, that of the first piece.
template <typename Result>
void WorkInOrder(int64_t count, int threads,
                 const std::function<std::function<Result(int64_t)>()>& make_worker,
                 const std::function<void(int64_t, Result)>& take) {
  struct Piece {
    Result result;
    std::exception_ptr error;
    bool done = false;
  };
  constexpr int64_t kAhead = 16;  // pieces a thread
  if (threads <= 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Piece> pieces(std::min(count, kAhead * threads));
  const auto window = static_cast<int64_t>(pieces.size());
  std::mutex mutex;  // guards what follows, and `done`
  std::condition_variable room, ready;
  int64_t claimed = 0, taken = 0;
  bool stopping = false;

  const auto work = [&] {
    std::function<Result(int64_t)> worker;
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      room.wait(lock, [&] { return stopping || claimed == count || claimed < taken + window; });
      if (stopping || claimed == count) return;
      const int64_t number = claimed++;
      Piece& piece = pieces[number % window];
      lock.unlock();
      try {
        if (!worker) worker = make_worker();
        piece.result = worker(number);
      } catch (...) {
        piece.error = std::current_exception();
      }
      lock.lock();
      piece.done = true;
      if (number == taken) ready.notify_one();
    }
  };
  const auto take_next = [&] {
    Piece piece;
    {
      std::unique_lock<std::mutex> lock(mutex);
      Piece& next = pieces[taken % window];
      ready.wait(lock, [&] { return next.done; });
      std::swap(piece, next);
    }
    if (piece.error) std::rethrow_exception(piece.error);
    take(taken, std::move(piece.result));
    const std::lock_guard<std::mutex> lock(mutex);
    ++taken;
    room.notify_one();
  };

  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  std::exception_ptr error;
  try {
    for (int64_t i = 0; i < count; ++i) take_next();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  room.notify_all();
  for (std::thread& worker : workers) worker.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace moka
