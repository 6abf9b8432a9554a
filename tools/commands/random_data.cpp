#include "random_data.hpp"

#include <gflags/gflags.h>

#include <algorithm>
#include <memory>

#include "command.hpp"
#include "moka/base/philox.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "moka/net/passes.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"

DEFINE_string(data_shape, "",
              "the shape of a batch, \"16,3,227,227\": takes random data of this shape in place of "
              "the net's");

namespace moka {
namespace {

/// The shapes of a reading layer's tops; `missing` tells why the data cannot be read, if so.
std::vector<Shape> ShapesOf(const LayerParameter& param, const Context& context,
                            std::string* missing) {
  std::vector<std::unique_ptr<Blob>> blobs;
  BlobVector tops;
  for (const std::string& top : param.top()) {
    blobs.push_back(std::make_unique<Blob>(top));
    tops.push_back(blobs.back().get());
  }
  const std::unique_ptr<Layer> layer = LayerRegistry::Get().Create(param, context);
  try {
    layer->set_pass(1, 0);
    layer->SetUp({}, tops);
    layer->Reshape({}, tops);
  } catch (MissingFile& error) {
    *missing = error.what();
    if (!layer->AssumeShapes(tops)) {
      error.Hint("to go without the data, give the shape of a batch: --data_shape=64,3,227,227");
      error.In(LayerPlace(param));
      throw;
    }
  }
  std::vector<Shape> shapes;
  for (const Blob* top : tops) shapes.push_back(top->shape());
  return shapes;
}

void MakeInput(const std::vector<Shape>& shapes, LayerParameter* layer) {
  layer->set_type("Input");
  layer->clear_data_param();
  layer->clear_transform_param();
  layer->mutable_input_param()->clear_shape();
  for (const Shape& shape : shapes) {
    BlobShape* dims = layer->mutable_input_param()->add_shape();
    for (int64_t dim : shape.dims()) dims->add_dim(dim);
  }
}

/// Whether all readers of the blob, also those behind splits, take it as it is.
bool HasNoGradient(const Net& net, const Blob* blob) {
  for (const NetLayer& layer : net.layers()) {
    for (size_t i = 0; i < layer.bottoms.size(); ++i) {
      if (layer.bottoms[i] != blob) continue;
      const bool split = layer.param().type() == "Split";
      if (split ? !std::all_of(layer.tops.begin(), layer.tops.end(),
                               [&](const Blob* top) { return HasNoGradient(net, top); })
                : layer.layer->Differentiable(static_cast<int>(i))) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

Shape DataShapeFromFlag() {
  std::vector<int64_t> dims;
  for (const std::string& word : Split(FLAGS_data_shape, ',')) {
    const bool number = !word.empty() && word.size() < 10 &&
                        word.find_first_not_of("0123456789") == std::string::npos;
    if (!number) throw UsageError("--data_shape takes numbers, like 16,3,227,227");
    dims.push_back(std::stoll(word));
  }
  return Shape(dims);
}

NetParameter WithRandomData(const NetParameter& net, const NetState& state, const Context& context,
                            const Shape& shape, std::vector<std::string>* notes) {
  NetParameter changed = net;
  std::vector<std::string> upgrades;  // the net says them again when it is built
  UpgradeNet(&changed, &upgrades);
  changed = FilterLayers(changed, state);
  for (LayerParameter& layer : *changed.mutable_layer()) {
    const LayerInfo* info = LayerRegistry::Get().Find(layer.type());
    const bool reads = info != nullptr && info->source() && layer.type() != "DummyData";
    if (!reads && (layer.type() != "Input" || shape.axes() == 0)) continue;
    std::string missing;
    std::vector<Shape> shapes;
    if (reads && shape.axes() > 0) {
      shapes.assign(layer.top_size(), Shape{shape[0]});
    } else {
      shapes = ShapesOf(layer, context, &missing);
    }
    if (shape.axes() > 0) {
      shapes[0] = shape;
    } else if (missing.empty() && layer.type() != "MemoryData") {  // which only a program can fill
      continue;
    } else {
      notes->push_back(LayerPlace(layer) + ": random data instead of its own: " + missing);
    }
    MakeInput(shapes, &layer);
  }
  return changed;
}

void FillInputs(Net* net) {
  for (Blob* input : net->inputs()) {
    float* values = input->data().Write();
    const bool label = HasNoGradient(*net, input);
    const Philox random = Philox::For(1, StreamOf(input->name()));
    for (int64_t i = 0; i < input->count(); ++i) values[i] = label ? 0 : random.Gaussian(0, i);
  }
}

}  // namespace moka
