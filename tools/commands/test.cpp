#include <glog/logging.h>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/outputs.hpp"
#include "moka/net/weights.hpp"

namespace moka {
namespace {

void LogBatch(const Net& net, int batch) {
  const std::vector<float> values = OutputValues(net);
  size_t number = 0;
  for (const Blob* output : net.outputs()) {
    for (int64_t i = 0; i < output->count(); ++i) {
      LOG(INFO) << "Batch " << batch << ", " << output->name() << " = " << values[number++];
    }
  }
}

void LogMean(const Net& net, const MeanOutput& mean) {
  LOG(INFO) << "Loss: " << mean.loss;
  for (const std::string& line : DescribeOutputs(net, mean.values)) LOG(INFO) << line;
}

int Run(const std::vector<std::string>&) {
  const NetParameter param = ReadModelFromFlags();
  RequireFlag("weights");
  if (FLAGS_iterations < 1) throw UsageError("--iterations is at least 1");
  Net net(param, StateFromFlags(TEST), ContextFromFlags());
  LoadWeights({FLAGS_weights}, &net, WeightsOptionsFromFlags());
  LOG(INFO) << "Running for " << FLAGS_iterations << " iterations.";
  LogMean(net, MeanOutputs(&net, FLAGS_iterations, [&](int batch) {
            LogBatch(net, batch);
            return true;
          }));
  return 0;
}

const RegisterCommand kRegistration(
    {"test",
     "scores a trained net on its test data",
     "moka test --model=NET --weights=FILE [--iterations=50]",
     "Runs batches of the net's own data and shows each output of each batch, then the means over\n"
     "all batches.",
     {"model", "weights", "strict", "skip_mismatch", "iterations", "phase", "level", "stage", "gpu",
      "device", "threads", "lenient"},
     0,
     Run});

}  // namespace
}  // namespace moka
