// Testing during training.
#include <glog/logging.h>

#include "moka/net/outputs.hpp"
#include "moka/solver/detection_test_pass.hpp"
#include "moka/solver/pace.hpp"
#include "moka/solver/progress.hpp"
#include "moka/solver/solver.hpp"

namespace moka {

/// A test whose result may lower the rate or end the training, and whose time is not training's.
void Solver::TestInTraining() {
  const double before = Pace::Now();
  const std::vector<std::vector<float>> means = TestAll();
  pace_->Exclude(Pace::Now() - before);
  if (means.empty()) return;
  SeeTest(param_, WatchedResult(param_, *test_nets_[0], means[0]), &progress_);
  if (HasStalled(param_, progress_)) {
    LOG(INFO) << "No better test in " << param_.stop_early() << ": training ends (stop_early)";
  }
}

std::vector<std::vector<float>> Solver::TestAll() {
  std::vector<std::vector<float>> means;
  for (size_t i = 0; i < test_nets_.size(); ++i) means.push_back(Test(i));
  return means;
}

std::vector<float> Solver::Test(size_t index) {
  LOG(INFO) << "Iteration " << iteration_ << ", Testing net (#" << index << ")";
  Net& net = *test_nets_[index];
  const int batches = param_.test_iter(static_cast<int>(index));
  const bool detection = param_.eval_type() == "detection";
  const MeanOutput mean =
      detection ? TestDetection(&net, batches, param_) : MeanOutputs(&net, batches);
  if (param_.test_compute_loss()) LOG(INFO) << "Test loss: " << mean.loss;
  if (!detection) LogOutputs("Test", net, mean.values);
  return mean.values;
}

}  // namespace moka
