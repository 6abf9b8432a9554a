#pragma once

#include <functional>
#include <string>
#include <vector>

#include "moka/net/net.hpp"

namespace moka {

/// The values of all outputs of a net, one after the other.
std::vector<float> OutputValues(const Net& net);

/// The items of a net's batch: the largest first axis of a top of a layer without bottoms.
int64_t ItemsABatch(const Net& net);

struct MeanOutput {
  std::vector<float> values;  // like OutputValues
  double loss = 0;
};

/// Runs `batches` forward passes and averages the outputs and the loss; a batch with fewer items
/// counts for less. `on_batch`, if not null, is
/// called after each pass with its number; false from it ends the run early.
MeanOutput MeanOutputs(Net* net, int batches,
                       const std::function<bool(int batch)>& on_batch = nullptr);

/// Each value of a net's outputs in Caffe's wording: `accuracy = 0.91`,
/// `loss = 0.5 (* 2 = 1 loss)`.
std::vector<std::string> DescribeOutputs(const Net& net, const std::vector<float>& values);

/// Logs a line for each value of a net's outputs, in Caffe's wording:
/// `    Test net output #0: accuracy = 0.91`.
void LogOutputs(const std::string& kind, const Net& net, const std::vector<float>& values);

}  // namespace moka
