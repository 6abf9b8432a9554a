#include "moka/net/outputs.hpp"

#include <glog/logging.h>

#include <algorithm>
#include <sstream>

namespace moka {

std::vector<float> OutputValues(const Net& net) {
  std::vector<float> values;
  for (const Blob* output : net.outputs()) {
    const float* data = output->data().Read();
    values.insert(values.end(), data, data + output->count());
  }
  return values;
}

int64_t ItemsABatch(const Net& net) {
  int64_t items = 0;
  for (const NetLayer& layer : net.layers()) {
    if (!layer.bottoms.empty() || layer.tops.empty()) continue;
    if (layer.tops[0]->shape().axes() > 0) items = std::max(items, layer.tops[0]->shape()[0]);
  }
  return items;
}

MeanOutput MeanOutputs(Net* net, int batches, const std::function<bool(int batch)>& on_batch) {
  std::vector<double> sums;
  double loss = 0, weights = 0;
  int64_t first_items = 0;
  int done = 0;
  while (done < batches) {
    net->Forward();
    const int64_t items = std::max<int64_t>(ItemsABatch(*net), 1);
    if (done == 0) first_items = items;
    const double weight = static_cast<double>(items) / static_cast<double>(first_items);
    weights += weight;
    const std::vector<float> values = OutputValues(*net);
    if (sums.empty()) sums.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) sums[i] += weight * values[i];
    loss += weight * net->Loss();
    ++done;
    if (on_batch && !on_batch(done - 1)) break;
  }
  MeanOutput mean;
  for (double sum : sums) mean.values.push_back(static_cast<float>(sum / weights));
  mean.loss = done > 0 ? loss / weights : 0;
  return mean;
}

std::vector<std::string> DescribeOutputs(const Net& net, const std::vector<float>& values) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < net.outputs().size(); ++i) {
    const float weight = net.output_loss_weight(i);
    for (int64_t j = 0; j < net.outputs()[i]->count(); ++j) {
      const float value = values[lines.size()];
      std::ostringstream line;
      line << net.outputs()[i]->name() << " = " << value;
      if (weight != 0) line << " (* " << weight << " = " << weight * value << " loss)";
      lines.push_back(line.str());
    }
  }
  return lines;
}

void LogOutputs(const std::string& kind, const Net& net, const std::vector<float>& values) {
  size_t number = 0;
  for (const std::string& line : DescribeOutputs(net, values)) {
    LOG(INFO) << "    " << kind << " net output #" << number++ << ": " << line;
  }
}

}  // namespace moka
