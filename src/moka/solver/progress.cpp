#include "moka/solver/progress.hpp"

#include <glog/logging.h>

#include <string>
#include <vector>

#include "moka/base/strings.hpp"
#include "moka/solver/solver_fields.hpp"

namespace moka {

void SeeLoss(const SolverParameter& param, int64_t iteration, double loss, SolverState* progress) {
  if (param.lr_policy() != "plateau") return;
  if (static_cast<float>(loss) < progress->minimum_loss()) {
    progress->set_minimum_loss(static_cast<float>(loss));
    progress->set_iter_last_event(static_cast<int32_t>(iteration));
  }
  const int step = progress->current_step();
  if (step >= param.plateau_winsize_size()) return;
  if (iteration < int64_t{progress->iter_last_event()} + param.plateau_winsize(step)) return;
  progress->set_current_step(step + 1);
  progress->set_iter_last_event(static_cast<int32_t>(iteration));
  LOG(INFO) << "Plateau Status: Iteration " << iteration << ", step = " << step + 1
            << ", minimum loss = " << progress->minimum_loss();
}

TestResult WatchedResult(const SolverParameter& param, const Net& net,
                         const std::vector<float>& values) {
  std::vector<std::string> names;
  size_t first = 0;
  for (size_t i = 0; i < net.outputs().size(); ++i) {
    const Blob& output = *net.outputs()[i];
    if (!param.has_watched_output() || output.name() == param.watched_output()) {
      return {first < values.size() ? values[first] : 0, net.output_loss_weight(i) > 0};
    }
    names.push_back(output.name());
    first += static_cast<size_t>(output.count());
  }
  RequireField(false, param, "watched_output", "the first test net has no output \"",
               param.watched_output(), "\"", DidYouMean(param.watched_output(), names), ": it has ",
               names.empty() ? "none" : Join(names, ", "));
  return {};
}

void SeeTest(const SolverParameter& param, const TestResult& result, SolverState* progress) {
  const float best = progress->best_result();
  const bool better = !progress->has_best_result() ||
                      (result.lower_is_better ? result.value < best : result.value > best);
  if (better) {
    progress->set_best_result(result.value);
    progress->set_tests_since_best(0);
    progress->set_tests_since_step(0);
    return;
  }
  progress->set_tests_since_best(progress->tests_since_best() + 1);
  progress->set_tests_since_step(progress->tests_since_step() + 1);
  if (param.lr_policy() != "stepearly" || progress->tests_since_step() < param.stepearly()) return;
  progress->set_current_step(progress->current_step() + 1);
  progress->set_tests_since_step(0);
  LOG(INFO) << "No better test in " << param.stepearly()
            << ": learning rate lowered, step = " << progress->current_step();
}

bool HasStalled(const SolverParameter& param, const SolverState& progress) {
  return param.stop_early() > 0 && progress.tests_since_best() >= param.stop_early();
}

SolverState ProgressOf(const SolverState& state) {
  SolverState progress = state;
  for (const char* other : {"iter", "learned_net", "history", "moka_iter", "solver_type", "reader",
                            "carried", "crc", "smoothed_loss"}) {
    progress.GetReflection()->ClearField(&progress,
                                         progress.GetDescriptor()->FindFieldByName(other));
  }
  return progress;
}

}  // namespace moka
