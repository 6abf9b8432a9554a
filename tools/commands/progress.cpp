#include "progress.hpp"

#include <glog/logging.h>

#include <utility>

#include "moka/base/strings.hpp"

namespace moka {

Progress::Progress(int64_t total, std::string what)
    : total_(total), what_(std::move(what)), begin_(Clock::now()), shown_(begin_) {}

void Progress::Update(int64_t done) {
  constexpr std::chrono::seconds kInterval(5);
  const Clock::time_point now = Clock::now();
  if (now - shown_ < kInterval) return;
  shown_ = now;
  const double rate =
      static_cast<double>(done) / std::chrono::duration<double>(now - begin_).count();
  LOG(INFO) << Grouped(done) << " of " << Grouped(total_) << " " << what_ << ", "
            << Grouped(static_cast<int64_t>(rate)) << " a second, "
            << HumanSeconds(static_cast<double>(total_ - done) / rate) << " to go";
}

}  // namespace moka
