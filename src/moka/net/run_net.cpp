#include "moka/net/run_net.hpp"

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

FloatArray ToArray(const Tensor& tensor) {
  const float* values = tensor.Read();
  return {tensor.shape().dims(), std::vector<float>(values, values + tensor.count())};
}

void Set(const FloatArray& array, const std::string& path, Tensor* tensor) {
  Require(static_cast<int64_t>(array.data.size()) == tensor->count(), path, " is ",
          Shape(array.shape), ", but the net's is ", tensor->shape());
  std::copy(array.data.begin(), array.data.end(), tensor->Write());
}

std::string ParamPath(const NetLayer& layer, size_t index) {
  return Text(layer.name(), "/", index);
}

/// What stands behind `prefix` in a path that begins with it.
bool Below(const std::string& path, const std::string& prefix, std::string* rest) {
  if (!StartsWith(path, prefix)) return false;
  *rest = path.substr(prefix.size());
  return true;
}

void SetInputs(const NamedArrays& given, Net* net) {
  std::string name;
  for (const auto& [path, array] : given) {
    if (!Below(path, "input/", &name)) continue;
    Blob& blob = net->blob(name);
    blob.Resize(Shape(array.shape));
    Set(array, path, &blob.data());
  }
}

void SetParams(const NamedArrays& given, Net* net) {
  std::map<std::string, Blob*> params;
  for (NetLayer& layer : net->layers()) {
    for (size_t i = 0; i < layer.layer->params().size(); ++i) {
      params[ParamPath(layer, i)] = layer.layer->params()[i].blob.get();
    }
  }
  std::string name;
  for (const auto& [path, array] : given) {
    if (!Below(path, "param/", &name)) continue;
    const auto param = params.find(name);
    Require(param != params.end(), "the net has no param \"", name, "\"");
    Set(array, path, &param->second->data());
  }
}

void SetOutputGradients(const NamedArrays& given, Net* net) {
  for (size_t i = 0; i < net->outputs().size(); ++i) {
    Blob& output = *net->outputs()[i];
    const auto array = given.find("top_diff/" + output.name());
    if (array != given.end()) {
      Set(array->second, array->first, &output.diff());
    } else if (net->output_loss_weight(i) == 0) {
      output.diff().SetZero();
    }
  }
}

NamedArrays Params(const Net& net, const std::string& prefix, bool gradients) {
  NamedArrays arrays;
  for (const NetLayer& layer : net.layers()) {
    for (size_t i = 0; i < layer.layer->params().size(); ++i) {
      const Blob& blob = *layer.layer->params()[i].blob;
      arrays[prefix + ParamPath(layer, i)] = ToArray(gradients ? blob.diff() : blob.data());
    }
  }
  return arrays;
}

void RecordOutputs(const Net& net, const NamedArrays& given, NamedArrays* arrays) {
  for (const auto& blob : net.blobs()) {
    if (blob->name().find("_split_") != std::string::npos ||
        net.FindBlob(blob->name()) == nullptr) {
      continue;
    }
    FloatArray array = ToArray(blob->data());
    const auto input = given.find("input/" + blob->name());
    if (input != given.end() && input->second.data == array.data) continue;
    (*arrays)["output/" + blob->name()] = std::move(array);
  }
}

void RecordInputGradients(const Net& net, NamedArrays* arrays) {
  for (const Blob* input : net.inputs()) {
    for (const NetLayer& layer : net.layers()) {
      const auto bottom = std::find(layer.bottoms.begin(), layer.bottoms.end(), input);
      if (bottom == layer.bottoms.end()) continue;
      if (layer.backward && layer.propagate[bottom - layer.bottoms.begin()]) {
        (*arrays)["input_diff/" + input->name()] = ToArray(input->diff());
      }
      break;
    }
  }
}

}  // namespace

RunResult RunNet(Net* net, const NamedArrays& given, const RunOptions& options) {
  RunResult result;
  SetParams(given, net);
  const NamedArrays before = Params(*net, "param_after/", false);
  for (int i = 0; i < options.forward_times; ++i) {
    SetInputs(given, net);
    net->Forward();
  }
  result.loss = net->Loss();
  RecordOutputs(*net, given, &result.arrays);
  for (auto& [path, array] : Params(*net, "param_after/", false)) {
    if (array.data != before.at(path).data) result.arrays[path] = std::move(array);
  }
  if (options.backward) {
    SetOutputGradients(given, net);
    net->ClearParamDiffs();
    net->Backward();
    RecordInputGradients(*net, &result.arrays);
    result.arrays.merge(Params(*net, "param_diff/", true));
  }
  return result;
}

}  // namespace moka
