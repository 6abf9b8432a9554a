#include "moka/proto/upgrade.hpp"

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade_steps.hpp"

namespace moka {
namespace {

using Messages = std::vector<std::string>;
using Layers = google::protobuf::RepeatedPtrField<LayerParameter>;

/// `place: ` when the place is known, else nothing.
std::string Prefix(const std::string& place) { return place.empty() ? "" : place + ": "; }

/// Orders layers as they stood in the text, if all of them stood in the same one.
void SortByPlace(Layers* layers) {
  for (const LayerParameter& layer : *layers) {
    if (!layer.source().has_line() || layer.source().file() != layers->begin()->source().file()) {
      return;
    }
  }
  const auto place = [](const LayerParameter& layer) {
    return std::make_pair(layer.source().line(), layer.source().column());
  };
  std::stable_sort(layers->pointer_begin(), layers->pointer_end(),
                   [&](const auto* a, const auto* b) { return place(*a) < place(*b); });
}

bool UpgradeLayers(NetParameter* net, Messages* messages) {
  if (net->layers_size() == 0) return false;
  const int count = net->layers_size();
  FoldPadding(net);
  Layers upgraded;
  for (V1LayerParameter& old : *net->mutable_layers()) {
    *upgraded.Add() = UpgradeLayer(&old, messages);
  }
  net->clear_layers();
  const bool mixed = net->layer_size() > 0;
  for (LayerParameter& layer : *net->mutable_layer()) upgraded.Add()->Swap(&layer);
  net->mutable_layer()->Swap(&upgraded);
  if (mixed) SortByPlace(net->mutable_layer());
  messages->push_back(Text(Prefix(net->source().file()), count, count == 1 ? " layer" : " layers",
                           " of the old format (`layers`) read as `layer`"));
  return true;
}

/// The shapes of the old input fields: as many as there are inputs, or none.
std::vector<BlobShape> InputShapes(const NetParameter& net) {
  std::vector<BlobShape> shapes(net.input_shape().begin(), net.input_shape().end());
  const bool by_dim = shapes.empty();
  const int expected = by_dim ? 4 * net.input_size() : net.input_size();
  const int given = by_dim ? net.input_dim_size() : net.input_shape_size();
  if (given != 0 && given != expected) {
    const std::string field = by_dim ? "input_dim" : "input_shape";
    Fail(Prefix(FieldPlaceOf(net.source(), field)), net.input_size(),
         net.input_size() == 1 ? " input needs " : " inputs need ", expected, " ", field, ", but ",
         given, given == 1 ? " is given" : " are given");
  }
  for (int i = 0; i < net.input_dim_size() && by_dim; ++i) {
    if (i % 4 == 0) shapes.emplace_back();
    shapes.back().add_dim(net.input_dim(i));
  }
  return shapes;
}

/// Where the old input fields stood, as places of the new layer's fields.
SourcePlace InputSource(const SourcePlace& net) {
  SourcePlace source = net;
  source.clear_field();
  for (const FieldPlace& field : net.field()) {
    const std::string& path = field.path();
    if (path == "input") {
      source.set_line(field.line());
      source.set_column(field.column());
    }
    // The four sizes of an input share the place of the first.
    if (StartsWith(path, "input_dim[")) continue;
    if (StartsWith(path, "input")) *source.add_field() = field;
  }
  RenamePlace("input", "top", &source);
  RenamePlace("input_shape", "input_param.shape", &source);
  RenamePlace("input_dim", "input_param", &source);
  return source;
}

LayerParameter InputLayer(const NetParameter& net, const std::vector<BlobShape>& shapes) {
  LayerParameter layer;
  layer.set_name("input");
  layer.set_type("Input");
  *layer.mutable_top() = net.input();
  for (const BlobShape& shape : shapes) *layer.mutable_input_param()->add_shape() = shape;
  if (net.has_source()) *layer.mutable_source() = InputSource(net.source());
  return layer;
}

bool UpgradeInputs(NetParameter* net, Messages* messages) {
  if (net->input_size() == 0) return false;
  const std::string place = Prefix(FieldPlaceOf(net->source(), "input"));
  const std::vector<BlobShape> shapes = InputShapes(*net);
  if (shapes.empty()) {
    messages->push_back(Text(place, "input \"", Join(net->input(), "\", \""),
                             "\" has neither input_shape nor input_dim and is left out"));
  } else {
    *net->add_layer() = InputLayer(*net, shapes);
    std::rotate(net->mutable_layer()->pointer_begin(), net->mutable_layer()->pointer_end() - 1,
                net->mutable_layer()->pointer_end());
    messages->push_back(Text(place, "`input` read as a layer of type Input"));
  }
  net->clear_input();
  net->clear_input_shape();
  net->clear_input_dim();
  return true;
}

bool UpgradeBatchNorm(NetParameter* net, Messages* messages) {
  bool changed = false;
  for (LayerParameter& layer : *net->mutable_layer()) {
    if (layer.type() != "BatchNorm") continue;
    changed |= UpgradeScaleBias(&layer);
    if (layer.param_size() != 3 && !layer.batch_norm_param().scale_bias()) continue;
    for (int i = 0; i < std::min(layer.param_size(), 3); ++i) {
      ParamSpec* spec = layer.mutable_param(i);
      if (spec->has_lr_mult() && spec->lr_mult() != 0) {
        messages->push_back(LayerPlace(layer, "param") +
                            ": lr_mult has no effect: statistics are not learned");
      }
      changed = changed || spec->lr_mult() != 0 || spec->decay_mult() != 0;
      spec->set_lr_mult(0);
      spec->set_decay_mult(0);
    }
  }
  return changed;
}

/// Junhyuk Oh's LSTM came before Caffe's and gave its type away; the parameters tell them apart.
bool UpgradeLstm(NetParameter* net) {
  bool changed = false;
  for (LayerParameter& layer : *net->mutable_layer()) {
    const bool old = layer.has_lstm_param() && !layer.has_recurrent_param();
    if (layer.type() != "LSTM" || !old) continue;
    layer.set_type("Lstm");
    changed = true;
  }
  return changed;
}

/// Names fields of today's layers that once meant something, and that Caffe reads without a word.
template <typename Param>
void NameIgnored(const LayerParameter& layer, const std::string& name, const Param& param,
                 Messages* messages) {
  std::vector<std::string> ignored;
  if (param.has_scale()) ignored.push_back("scale");
  if (param.has_mean_file()) ignored.push_back("mean_file");
  if (param.has_crop_size()) ignored.push_back("crop_size");
  if (param.has_mirror()) ignored.push_back("mirror");
  if (ignored.empty()) return;
  messages->push_back(Text(LayerPlace(layer, name + "." + ignored[0]), ": ", Join(ignored, ", "),
                           " in ", name, " without effect: belongs in transform_param"));
}

/// Moves a transform_param that stands inside the parameters of the data to where it belongs.
template <typename Param>
bool MoveTransform(const std::string& name, Param* (LayerParameter::*param)(),
                   LayerParameter* layer, Messages* messages) {
  Param* data = (layer->*param)();
  const std::string path = name + ".transform_param";
  if (layer->has_transform_param()) {
    Fail(LayerPlace(*layer, path), ": the layer has a transform_param of its own already");
  }
  messages->push_back(LayerPlace(*layer, path) + ": read as the layer's transform_param");
  *layer->mutable_transform_param() = data->transform_param();
  data->clear_transform_param();
  RenameField(path, "transform_param", layer);
  return true;
}

bool UpgradeTransforms(NetParameter* net, Messages* messages) {
  bool changed = false;
  for (LayerParameter& layer : *net->mutable_layer()) {
    if (layer.data_param().has_transform_param()) {
      changed = MoveTransform("data_param", &LayerParameter::mutable_data_param, &layer, messages);
    }
    if (layer.image_data_param().has_transform_param()) {
      changed = MoveTransform("image_data_param", &LayerParameter::mutable_image_data_param, &layer,
                              messages);
    }
  }
  return changed;
}

}  // namespace

bool UpgradeNet(NetParameter* net, std::vector<std::string>* messages) {
  for (const LayerParameter& layer : net->layer()) {
    NameIgnored(layer, "data_param", layer.data_param(), messages);
    NameIgnored(layer, "image_data_param", layer.image_data_param(), messages);
  }
  bool changed = UpgradeLayers(net, messages);
  changed |= UpgradeInputs(net, messages);
  changed |= UpgradeBatchNorm(net, messages);
  changed |= UpgradeLstm(net);
  changed |= UpgradeTransforms(net, messages);
  changed |= SplitFused(net);
  return changed;
}

bool UpgradeSolver(SolverParameter* solver) {
  if (!solver->has_solver_type()) return false;
  static constexpr const char* kTypes[] = {"SGD",      "Nesterov", "AdaGrad", "RMSProp",
                                           "AdaDelta", "Adam",     "SAG"};
  if (solver->has_type()) {
    Fail(Prefix(FieldPlaceOf(solver->source(), "solver_type")), "both type (\"", solver->type(),
         "\") and the old solver_type (", SolverParameter::SolverType_Name(solver->solver_type()),
         ") are given\n  remove solver_type");
  }
  solver->set_type(kTypes[solver->solver_type()]);
  solver->clear_solver_type();
  RenameField("solver_type", "type", solver);
  return true;
}

}  // namespace moka
