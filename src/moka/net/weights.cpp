#include "moka/net/weights.hpp"

#include <glog/logging.h>

#include <algorithm>
#include <map>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

std::vector<int64_t> WithoutLeadingOnes(const std::vector<int64_t>& dims) {
  const auto first = std::find_if(dims.begin(), dims.end(), [](int64_t dim) { return dim != 1; });
  return std::vector<int64_t>(first, dims.end());
}

/// What keeps a model's layer from fitting the net's; empty if nothing does.
std::string Mismatch(const ModelLayer& stored, const Layer& layer, const std::string& path) {
  const std::vector<LayerParam>& params = layer.params();
  if (stored.blobs.size() != params.size()) {
    return Text("learns ", params.size(), " blob(s), but has ", stored.blobs.size(), " in ", path);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const FloatArray& blob = stored.blobs[i];
    const Shape& shape = params[i].blob->shape();
    if (blob.IsMissing()) continue;
    if (WithoutLeadingOnes(blob.shape) == WithoutLeadingOnes(shape.dims())) continue;
    return Text("param ", i, " is ", shape, ", but ", Shape(blob.shape), " in ", path);
  }
  return "";
}

void AddLine(const std::string& what, const std::vector<std::string>& names, std::string* text) {
  if (names.empty()) return;
  if (!text->empty()) *text += "\n";
  *text += Text(what, " (", names.size(), "): ", Join(names, ", "));
}

}  // namespace

std::string WeightsReport::ToString() const {
  std::string text;
  AddLine("loaded", loaded, &text);
  AddLine("not in the model, so as initialised", missing, &text);
  AddLine("in the model, but not in the net", unused, &text);
  AddLine("shapes differ, so as initialised", mismatched, &text);
  return text;
}

WeightsReport CopyWeights(const Model& model, Net* net, const WeightsOptions& options) {
  WeightsReport report;
  std::map<std::string, const ModelLayer*> stored;
  for (const ModelLayer& layer : model.layers) {
    stored[layer.name] = &layer;
    if (net->LayerIndex(layer.name) < 0 && !layer.blobs.empty()) {
      report.unused.push_back(layer.name);
    }
  }
  std::vector<std::pair<Layer*, const ModelLayer*>> fitting;
  for (NetLayer& layer : net->layers()) {
    const auto found = stored.find(layer.name());
    const bool in_model = found != stored.end() && !found->second->blobs.empty();
    if (layer.layer->params().empty() && !in_model) continue;
    if (!in_model) {
      report.missing.push_back(layer.name());
      continue;
    }
    const std::string mismatch = Mismatch(*found->second, *layer.layer, model.path);
    if (mismatch.empty()) {
      fitting.emplace_back(layer.layer.get(), found->second);
      report.loaded.push_back(layer.name());
    } else {
      report.mismatched.push_back(LayerPlace(layer.param()) + ": " + mismatch);
    }
  }
  if (!report.mismatched.empty() && !options.skip_mismatch) {
    throw Error(Join(report.mismatched, "\n"))
        .Hint("rename a layer to train it afresh, or skip those that differ (--skip_mismatch)");
  }
  Require(!options.strict || (report.missing.empty() && report.unused.empty()), model.path,
          " and the net have different layers\n", report.ToString());
  for (const auto& [layer, from] : fitting) {
    for (size_t i = 0; i < from->blobs.size(); ++i) {
      if (from->blobs[i].IsMissing()) continue;
      const std::vector<float>& values = from->blobs[i].data;
      std::copy(values.begin(), values.end(), layer->params()[i].blob->data().Write());
    }
  }
  return report;
}

void LoadWeights(const std::vector<std::string>& files, Net* net, const WeightsOptions& options) {
  std::vector<std::string> single;
  for (const std::string& list : files) {
    for (const std::string& file : Split(list, ',')) single.push_back(Trim(file));
  }
  for (const std::string& file : single) {
    const WeightsReport report = CopyWeights(ReadModel(file), net, options);
    for (const std::string& line : Split(report.ToString(), '\n')) {
      LOG(INFO) << "Weights from " << file << ": " << line;
    }
    if (report.loaded.empty()) {
      LOG(WARNING) << "no layer of " << file << " has the name of one of the net's layers";
    }
  }
}

NetParameter WithBlobs(const Net& net, bool diffs) {
  NetParameter param = net.param();
  for (int i = 0; i < param.layer_size(); ++i) {
    LayerParameter* layer = param.mutable_layer(i);
    layer->clear_blobs();
    for (const LayerParam& learned : net.layers()[i].layer->params()) {
      const Blob& blob = *learned.blob;
      BlobProto* stored = layer->add_blobs();
      ToBlobProto(blob.shape().dims(), blob.data().Read(), stored);
      if (!diffs || !blob.diff().written()) continue;
      const float* diff = blob.diff().Read();
      stored->mutable_diff()->Add(diff, diff + blob.count());
    }
  }
  return param;
}

}  // namespace moka
