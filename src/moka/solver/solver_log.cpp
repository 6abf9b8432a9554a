// What a solver says while it trains. The wording is Caffe's where log parsers look for it.
#include <glog/logging.h>

#include "moka/base/strings.hpp"
#include "moka/net/outputs.hpp"
#include "moka/solver/pace.hpp"
#include "moka/solver/solver.hpp"

namespace moka {

void Solver::LogIteration() {
  const double now = Pace::Now(), waited = SecondsWaiting();
  const auto done = static_cast<double>(iteration_ - pace_->shown_iteration);
  const double seconds = now - pace_->shown - pace_->shown_excluded;
  const double rate = seconds > 0 ? done / seconds : 0;
  LOG(INFO) << "Iteration " << iteration_ << " (" << rate << " iter/s, " << seconds << "s/"
            << param_.display() << " iters), loss = " << smoothed_loss();
  LogOutputs("Train", *net_, OutputValues(*net_));
  if (done > 0 && seconds > 0) {
    const double items = static_cast<double>(ItemsABatch(*net_)) * param_.iter_size();
    const double mean = (now - pace_->began - pace_->excluded) /
                        static_cast<double>(iteration_ - pace_->first_iteration);
    LOG(INFO) << "    " << static_cast<int64_t>(rate * items) << " images/s, "
              << static_cast<int>(100 * (waited - pace_->shown_waiting) / seconds)
              << "% waiting for data, "
              << HumanSeconds(mean * static_cast<double>(param_.max_iter() - iteration_))
              << " left";
  }
  pace_->shown = now;
  pace_->shown_iteration = iteration_;
  pace_->shown_waiting = waited;
  pace_->shown_excluded = 0;
}

double Solver::SecondsWaiting() const {
  double seconds = 0;
  for (const NetLayer& layer : net_->layers()) seconds += layer.layer->seconds_waiting();
  return seconds;
}

}  // namespace moka
