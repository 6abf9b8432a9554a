#include "moka/solver/epochs.hpp"

#include <algorithm>
#include <limits>

#include "moka/base/error.hpp"
#include "moka/solver/solver.hpp"
#include "moka/solver/solver_fields.hpp"
#include "moka/solver/solver_nets.hpp"

namespace moka {

DataSize DataSizeOf(const Net& net, const char* what_for) {
  DataSize size;
  std::string first;
  for (const NetLayer& layer : net.layers()) {
    if (layer.layer->records() == 0 || layer.tops.empty()) continue;
    const DataSize found = {layer.layer->records(), layer.tops[0]->shape()[0]};
    if (size.records == 0) {
      first = layer.name();
    } else {
      Require(found.batches() == size.batches(), what_for, ": layers \"", first, "\" and \"",
              layer.name(), "\" need ", size.batches(), " and ", found.batches(),
              " batches for a pass over their data");
    }
    size = found;
  }
  Require(size.records > 0, what_for, ": no layer of the net \"", net.name(),
          "\" knows how many records there are");
  return size;
}

void SetIterations(const Net& net, SolverParameter* param) {
  if (!param->has_max_epoch()) return;
  try {
    const DataSize size = DataSizeOf(net, "max_epoch cannot be followed");
    const int64_t items = size.batch * param->iter_size();
    const int64_t iterations = (param->max_epoch() * size.records + items - 1) / items;
    Require(iterations <= std::numeric_limits<int32_t>::max(), "max_epoch: ", iterations,
            " iterations are too many");
    param->set_max_iter(static_cast<int32_t>(iterations));
  } catch (const Error& error) {
    ThrowAt(*param, "max_epoch", error);
  }
}

SolverParameter WithIterations(const SolverParameter& param) {
  SolverParameter result = param;
  if (!param.has_max_epoch()) return result;
  const NetSource train = FindNets(param).train;
  NetOptions options;
  options.fill_params = false;
  const auto context = std::make_shared<Context>("cpu", 1);
  SetIterations(Net(train.param, train.state, context, options), &result);
  return result;
}

void TestInOnePass(const std::vector<std::unique_ptr<Net>>& tests, SolverParameter* param) {
  if (param->test_iter_size() > 0) return;
  for (const auto& net : tests) {
    const DataSize size = DataSizeOf(*net, "without test_iter a test is one pass over its data");
    for (NetLayer& layer : net->layers()) layer.layer->EndBatchesWithData();
    param->add_test_iter(static_cast<int32_t>(size.batches()));
  }
}

}  // namespace moka
