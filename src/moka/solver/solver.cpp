#include "moka/solver/solver.hpp"

#include <glog/logging.h>

#include <cmath>

#include "moka/base/error.hpp"
#include "moka/device/math.hpp"
#include "moka/solver/epochs.hpp"
#include "moka/solver/layer_rate.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/pace.hpp"
#include "moka/solver/progress.hpp"
#include "moka/solver/solver_nets.hpp"
#include "moka/solver/update_rule.hpp"

namespace moka {

Solver::Solver(const SolverParameter& param, std::shared_ptr<Context> context)
    : param_(param), context_(std::move(context)), pace_(std::make_unique<Pace>()) {
  CheckSolver(param_);
  rule_ = UpdateRule::Make(param_);
  BuildNets();
  LoadWeights({param_.weights().begin(), param_.weights().end()});
  const size_t params = net_->learnable_params().size();
  for (int k = 0; k < rule_->histories(); ++k) {
    for (size_t i = 0; i < params; ++i) {
      history_.emplace_back(net_->learnable_params()[i].blob->shape());
      history_.back().set_name(Text("history ", history_.size() - 1));
      history_.back().SetZero();
    }
  }
}

Solver::~Solver() = default;

void Solver::BuildNets() {
  NetOptions options;
  options.seed = SeedOf(param_);
  const SolverNets nets = FindNets(param_);
  net_ = std::make_unique<Net>(nets.train.param, nets.train.state, context_, options);
  options.fill_params = false;
  for (const NetSource& test : nets.test) {
    test_nets_.push_back(std::make_unique<Net>(test.param, test.state, context_, options));
    test_nets_.back()->ShareParamsWith(*net_);
  }
  SetIterations(*net_, &param_);
  TestInOnePass(test_nets_, &param_);
  if (!test_nets_.empty()) WatchedResult(param_, *test_nets_[0], {});
}

void Solver::Solve() {
  LOG(INFO) << "Solving " << net_->name();
  LOG(INFO) << "Learning Rate Policy: " << param_.lr_policy();
  stopped_ = false;
  if (param_.snapshot() > 0 || param_.snapshot_after_train()) PrepareSnapshots(param_);
  Step(param_.max_iter() - iteration_);
  const bool saved = param_.snapshot() > 0 && iteration_ % param_.snapshot() == 0;
  if (param_.snapshot_after_train() && !saved) Snapshot();
  if (stopped_) {
    LOG(INFO) << "Optimization stopped early.";
    return;
  }
  if (param_.display() > 0 && iteration_ % param_.display() == 0) {
    net_->Forward();
    LOG(INFO) << "Iteration " << iteration_ << ", loss = " << net_->Loss();
  }
  if (param_.test_interval() > 0 && iteration_ % param_.test_interval() == 0) TestAll();
  LOG(INFO) << "Optimization Done.";
}

void Solver::Step(int64_t iterations) {
  const int64_t end = iteration_ + iterations;
  pace_->Start(iteration_, SecondsWaiting());
  while (iteration_ < end && !stopped_) {
    net_->ClearParamDiffs();
    const bool begins = iteration_ > 0 || param_.test_initialization();
    if (param_.test_interval() > 0 && iteration_ % param_.test_interval() == 0 && begins) {
      TestInTraining();
      stopped_ = HasStalled(param_, progress_);
      if (stopped_) break;
    }
    const double loss = ForwardBackward();
    CheckFinite(loss);
    losses_.push_back(static_cast<float>(loss));
    if (static_cast<int>(losses_.size()) > param_.average_loss()) losses_.pop_front();
    SeeLoss(param_, iteration_, smoothed_loss(), &progress_);
    if (param_.display() > 0 && iteration_ % param_.display() == 0) LogIteration();
    Update();
    ++iteration_;
    stopped_ = Intermission();
  }
}

/// The loss of one iteration: the mean over iter_size batches, whose gradients are summed.
double Solver::ForwardBackward() {
  double loss = 0;
  for (int i = 0; i < param_.iter_size(); ++i) {
    net_->set_pass(iteration_ * param_.iter_size() + i);
    net_->Forward();
    net_->Backward();
    loss += net_->Loss();
  }
  return loss / param_.iter_size();
}

void Solver::Update() {
  const float rate = LearningRate(param_, iteration_, progress_.current_step());
  if (param_.display() > 0 && iteration_ % param_.display() == 0) {
    LOG(INFO) << "Iteration " << iteration_ << ", lr = " << rate;
  }
  const float scale = ClipFactor(1) / static_cast<float>(param_.iter_size());
  const std::vector<LearnableParam>& params = net_->learnable_params();
  for (size_t i = 0; i < params.size(); ++i) {
    std::vector<Tensor*> history;
    for (int k = 0; k < rule_->histories(); ++k)
      history.push_back(&history_[k * params.size() + i]);
    UpdateStep step{rate * params[i].lr_mult,
                    param_.weight_decay() * params[i].decay_mult,
                    param_.regularization_type() == "L1",
                    scale,
                    iteration_,
                    param_.snapshot_diff(),
                    Momentum(param_, iteration_, rate)};
    Blob& blob = *params[i].blob;
    // What is frozen and does not decay cannot move, nor can its history.
    if (params[i].lr_mult == 0 && step.decay == 0) continue;
    if (HasLayerRates(param_) && params[i].lr_mult != 0) {
      step.rate = LayerRate(param_, *context_, step, rate, blob) * params[i].lr_mult;
    }
    rule_->Update(*context_, step, &blob, history);
  }
}

/// clip_gradients limits the L2 norm of all gradients together, before they are divided by
/// iter_size.
float Solver::ClipFactor(float factor) {
  if (param_.clip_gradients() < 0) return factor;
  double square = 0;
  for (const LearnableParam& param : net_->learnable_params()) {
    const float* gradient = param.blob->diff().Read(*context_);
    square += Dot(*context_, param.blob->count(), gradient, gradient);
  }
  const double norm = std::sqrt(square);
  if (norm <= param_.clip_gradients()) return factor;
  LOG(INFO) << "Gradient clipping: scaling down gradients (L2 norm " << norm << " > "
            << param_.clip_gradients() << ") by scale factor " << param_.clip_gradients() / norm;
  return factor * static_cast<float>(param_.clip_gradients() / norm);
}

/// Training on NaN only costs time (promise 6): says where it began.
void Solver::CheckFinite(double loss) {
  if (std::isfinite(loss) || param_.on_nan() == SolverParameter::CONTINUE) return;
  std::string where = "all blobs are finite";
  for (const auto& blob : net_->blobs()) {
    if (!blob->data().written()) continue;
    if (std::isfinite(AbsSum(*context_, blob->count(), blob->data().Read(*context_)))) continue;
    where = "the first blob with such values is \"" + blob->name() + "\"";
    break;
  }
  throw Error(Text("iteration ", iteration_, ": the loss is ", loss, "; ", where))
      .Hint("lower base_lr, check the data, or set on_nan: CONTINUE to go on regardless");
}

double Solver::smoothed_loss() const {
  double sum = 0;
  for (float loss : losses_) sum += loss;
  return losses_.empty() ? 0 : sum / static_cast<double>(losses_.size());
}

/// What may come between two iterations. Whether to stop.
bool Solver::Intermission() {
  const SolverAction action = action_ ? action_() : SolverAction::kNone;
  const bool due = param_.snapshot() > 0 && iteration_ % param_.snapshot() == 0;
  if (due || action == SolverAction::kSnapshot) TrySnapshot();
  return action == SolverAction::kStop;
}

/// A full disk must not end days of training (promise 4): the old snapshot is intact, and the next
/// one is tried at the next interval.
void Solver::TrySnapshot() {
  try {
    Snapshot();
  } catch (const Error& error) {
    LOG(ERROR) << "no snapshot at iteration " << iteration_ << ": " << error.what()
               << "; training goes on";
  }
}

}  // namespace moka
