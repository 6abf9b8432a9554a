#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/net/weights.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

namespace moka {

class UpdateRule;

/// The description with max_epoch turned into max_iter, for which its training net is built, with
/// its data. Does nothing without max_epoch. Throws Error where the net does not know how many
/// records there are.
SolverParameter WithIterations(const SolverParameter& param);

/// What somebody outside (a signal, usually) asks of a solver between two iterations.
enum class SolverAction { kNone, kStop, kSnapshot };

/// Reads a solver's prototxt: upgraded, and with a snapshot_prefix, by default the file's own name.
/// Throws Error with all mistakes and their places.
/// With lenient options the nets are read as well, and stand in it in place of their files' names.
SolverParameter ReadSolver(const std::string& path, const TextOptions& options = TextOptions());

/// Trains a net: computes gradients, updates params by the solver's rule, tests and saves at
/// intervals, and goes on exactly where a snapshot stopped.
///
/// Everything is a function of the description, the seed and the number of threads: training 2N
/// iterations gives the same bits as N, a snapshot, and N more.
class Solver {
 public:
  /// Builds the training net and the test nets, which use the training net's params.
  /// Throws Error for anything wrong with the solver or its nets.
  Solver(const SolverParameter& param, std::shared_ptr<Context> context);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  const SolverParameter& param() const { return param_; }
  Net& net() { return *net_; }
  const std::vector<std::unique_ptr<Net>>& test_nets() const { return test_nets_; }

  /// Iterations done so far.
  int64_t iteration() const { return iteration_; }

  /// Takes params from model files, matched by layer name; later files win. Logs what was taken.
  void LoadWeights(const std::vector<std::string>& files,
                   const WeightsOptions& options = WeightsOptions());

  /// Goes on from a solver state (.solverstate, .solverstate.h5): iteration, params, history and
  /// reader positions. Throws Error, with nothing changed, for a state of another solver type or of
  /// other shapes, and for a file that is no solver state.
  void Restore(const std::string& state_file);

  /// Whether Restore leaves data sources at their beginning, as Caffe does.
  void set_data_from_start(bool from_start) { data_from_start_ = from_start; }

  /// Trains until max_iter, stop_early or a stop; tests and saves on the way as the description
  /// says.
  void Solve();

  /// Trains `iterations` more.
  void Step(int64_t iterations);

  /// Runs all test nets and logs the mean of each output over test_iter batches (without test_iter
  /// over all records, each once), which is returned net by net, value by value.
  std::vector<std::vector<float>> TestAll();

  /// Saves params and state; returns the path of the state. Nothing half-written stays behind.
  std::string Snapshot();

  /// Asked after each iteration.
  void set_action_source(std::function<SolverAction()> source) { action_ = std::move(source); }

  /// The loss as shown: the mean over the last average_loss iterations.
  double smoothed_loss() const;

  /// The loss of the last iteration: the mean over iter_size batches.
  float last_loss() const { return losses_.empty() ? 0 : losses_.back(); }

  /// The steps taken by the policies that depend on the training (plateau, stepearly).
  int policy_steps() const { return progress_.current_step(); }

  /// What the update rule remembers, in the order of Caffe's solver states.
  const std::vector<Tensor>& history() const { return history_; }

 private:
  void BuildNets();
  void TestInTraining();
  double ForwardBackward();
  void Update();
  float ClipFactor(float scale);
  void CheckFinite(double loss);
  void LogIteration();
  std::vector<float> Test(size_t index);
  bool Intermission();
  void TrySnapshot();
  std::string SnapshotPath(const std::string& extension) const;
  double SecondsWaiting() const;

  SolverParameter param_;
  std::shared_ptr<Context> context_;
  std::unique_ptr<UpdateRule> rule_;
  std::unique_ptr<Net> net_;
  std::vector<std::unique_ptr<Net>> test_nets_;
  std::vector<Tensor> history_;
  int64_t iteration_ = 0;
  std::deque<float> losses_;
  SolverState progress_;
  bool data_from_start_ = false;
  bool stopped_ = false;
  std::function<SolverAction()> action_;

  struct Pace;
  std::unique_ptr<Pace> pace_;
};

}  // namespace moka
