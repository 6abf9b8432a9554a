#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace moka {

/// Logs how far a long job has come, every few seconds: `12,000 of 20,000 pictures, 1,530 a second,
/// 0:05 to go`.
class Progress {
 public:
  /// `total` things that are called `what` ("pictures").
  Progress(int64_t total, std::string what);

  void Update(int64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  int64_t total_;
  std::string what_;
  Clock::time_point begin_, shown_;
};

}  // namespace moka
