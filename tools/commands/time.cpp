#include <gflags/gflags.h>
#include <glog/logging.h>

#include <iostream>
#include <memory>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/weights.hpp"
#include "moka/solver/update_rule.hpp"
#include "net_timer.hpp"
#include "random_data.hpp"
#include "table.hpp"

DEFINE_bool(update, true, "after a backward pass, update the params as SGD with momentum does");

namespace moka {
namespace {

std::unique_ptr<Net> MakeNet() {
  const NetParameter param = ReadModelFromFlags();
  const NetState state = StateFromFlags(TRAIN);
  const std::shared_ptr<Context> context = ContextFromFlags();
  std::vector<std::string> notes;
  const NetParameter runnable = WithRandomData(param, state, *context, DataShapeFromFlag(), &notes);
  for (const std::string& note : notes) LOG(WARNING) << note;
  auto net = std::make_unique<Net>(runnable, state, context);
  LoadWeights({FLAGS_weights}, net.get(), WeightsOptionsFromFlags());
  FillInputs(net.get());
  return net;
}

/// SGD with momentum and weight decay. The rate is 0, so that the weights, and with them the
/// numbers that layers work on, stay what they are; the arithmetic is the same.
class Updater {
 public:
  explicit Updater(Net* net) : net_(net), rule_(UpdateRule::Make(SolverParameter())) {
    for (const LearnableParam& param : net->learnable_params()) {
      history_.emplace_back(param.blob->shape());
      history_.back().SetZero();
    }
  }

  void Update() {
    const UpdateStep step = {0, 0.0005f, false, 1, 0, false};
    for (size_t i = 0; i < history_.size(); ++i) {
      rule_->Update(net_->context(), step, net_->learnable_params()[i].blob.get(), {&history_[i]});
    }
  }

 private:
  Net* net_;
  std::unique_ptr<UpdateRule> rule_;
  std::vector<Tensor> history_;
};

/// Backward does as much work as Forward for each gradient: that of the bottoms and, where the
/// layer learns, that of its params.
double BackwardOperations(const NetLayer& layer, double forward) {
  const Layer& of = *layer.layer;
  bool bottoms = false, params = false;
  for (bool wanted : layer.propagate) bottoms = bottoms || wanted;
  for (size_t i = 0; i < of.params().size(); ++i) {
    params = params || of.param_propagate(static_cast<int>(i));
  }
  return forward * ((bottoms ? 1 : 0) + (params ? 1 : 0));
}

/// Time, rate and share of the GEMM rate of one direction; blank where nothing was run.
void AddRate(double operations, double milliseconds, double gemm_rate,
             std::vector<std::string>* row) {
  if (milliseconds == 0) {
    row->insert(row->end(), {"", "", ""});
    return;
  }
  row->push_back(Fixed(milliseconds, 3));
  const double rate = operations / (milliseconds * 1e-3);
  row->push_back(operations == 0 ? "" : Fixed(rate * 1e-9, 1));
  row->push_back(operations == 0 ? "" : Fixed(100 * rate / gemm_rate, 0) + "%");
}

void ShowLayers(const Net& net, const NetTimes& times, double gemm_rate) {
  Table table("lllrrrrrrrr");
  table.Add({"layer", "type", "engine", "Mflop", "forward ms", "Gflop/s", "of GEMM", "backward ms",
             "Gflop/s", "of GEMM", "of total"});
  double forward_total = 0, backward_total = 0;
  std::vector<std::string> declined;
  for (size_t i = 0; i < net.layers().size(); ++i) {
    const NetLayer& layer = net.layers()[i];
    const double forward = times.layers[i].forward.Median();
    const double backward = times.layers[i].backward.Median();
    const double operations = layer.layer->Operations(layer.bottoms, layer.tops);
    const double backward_operations = backward > 0 ? BackwardOperations(layer, operations) : 0;
    forward_total += operations;
    backward_total += backward_operations;
    const std::string engine = layer.engine.substr(0, layer.engine.find(';'));
    std::vector<std::string> row = {layer.name(), layer.param().type(), engine,
                                    Fixed(operations * 1e-6, 1)};
    AddRate(operations, forward, gemm_rate, &row);
    AddRate(backward_operations, backward, gemm_rate, &row);
    row.push_back(Fixed(100 * (forward + backward) / times.iteration.Median(), 1) + "%");
    table.Add(row);
    if (engine != layer.engine) declined.push_back(layer.name() + ": " + layer.engine);
  }
  std::vector<std::string> total = {"total", "", "", Fixed(forward_total * 1e-6, 1)};
  AddRate(forward_total, times.forward.Median(), gemm_rate, &total);
  AddRate(backward_total, times.backward.Median(), gemm_rate, &total);
  total.push_back("");
  table.Add(total);
  std::cout << table.ToString();
  for (const std::string& line : declined) std::cout << line << "\n";
}

int64_t BatchSize(const Net& net) {
  const Shape& first = net.layers()[0].tops[0]->shape();
  return first.axes() > 0 ? first[0] : 1;
}

/// Totals in a line, and Caffe's lines for what reads logs.
void ShowTotals(const Net& net, const NetTimes& times) {
  const double iteration = times.iteration.Median();
  std::cout << "forward " << Fixed(times.forward.Median(), 3) << " ms, backward "
            << Fixed(times.backward.Median(), 3) << " ms, update "
            << Fixed(times.update.Median(), 3) << " ms, together " << Fixed(iteration, 3)
            << " ms: " << Fixed(BatchSize(net) * 1e3 / iteration, 1) << " images/s (medians of "
            << FLAGS_iterations << " iterations)" << std::endl;
  LOG(INFO) << "Average Forward pass: " << times.forward.Mean() << " ms.";
  LOG(INFO) << "Average Backward pass: " << times.backward.Mean() << " ms.";
  LOG(INFO) << "Average Forward-Backward: " << times.forward.Mean() + times.backward.Mean()
            << " ms.";
  LOG(INFO) << "Total Time: " << times.iteration.Total() << " ms.";
}

bool HasLoss(const Net& net) {
  for (const NetLayer& layer : net.layers()) {
    if (layer.backward) return true;
  }
  return false;
}

int Run(const std::vector<std::string>&) {
  if (FLAGS_iterations < 1) throw UsageError("--iterations is at least 1");
  const std::unique_ptr<Net> net = MakeNet();
  TimerOptions options;
  options.iterations = FLAGS_iterations;
  options.backward = net->phase() == TRAIN && HasLoss(*net);
  std::unique_ptr<Updater> updater;
  if (options.backward && FLAGS_update) {
    updater = std::make_unique<Updater>(net.get());
    options.update = [&] { updater->Update(); };
  }
  const double gemm_rate = GemmRate(net->context());
  std::cout << net->name() << ", phase " << Phase_Name(net->phase()) << ", batch "
            << BatchSize(*net) << ", " << net->context().device().name() << ", "
            << net->context().threads() << " thread(s); matrix products reach "
            << Fixed(gemm_rate * 1e-9, 1) << " Gflop/s\n";
  if (net->phase() == TRAIN && !options.backward) {
    std::cout << "no layer leads to a loss: there is no backward pass\n";
  }
  const NetTimes times = TimeNet(net.get(), options);
  ShowLayers(*net, times, gemm_rate);
  ShowTotals(*net, times);
  return 0;
}

const RegisterCommand kRegistration(
    {"time",
     "times a net layer by layer",
     "moka time --model=NET [--iterations=50] [--phase=TRAIN|TEST] [--data_shape=N,C,H,W]",
     "After a warm-up, shows the median time of each layer, its floating-point operations, how\n"
     "many of them a second it does, and how that compares with a product of two matrices on the\n"
     "same threads. In phase TRAIN (the default) backward pass and update are timed as well.\n"
     "\n"
     "Inputs get random values. Data layers read their own data, or, where that is not there or\n"
     "--data_shape is given, are replaced by random values: so any train_val.prototxt can be "
     "timed\n"
     "as it lies.",
     {"model", "weights", "strict", "skip_mismatch", "iterations", "phase", "level", "stage",
      "update", "data_shape", "gpu", "device", "threads", "lenient"},
     0,
     Run});

}  // namespace
}  // namespace moka
