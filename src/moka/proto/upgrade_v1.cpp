#include <algorithm>
#include <map>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"
#include "moka/proto/upgrade_steps.hpp"

namespace moka {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Moves the messages `..._param` and `include`, `exclude`, `blobs`: V1 and today's layer have them
/// under the same names and in the same form.
void MoveMessages(V1LayerParameter* old, LayerParameter* layer) {
  const auto *from = old->GetReflection(), *to = layer->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  from->ListFields(*old, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const FieldDescriptor* same = layer->GetDescriptor()->FindFieldByName(field->name());
    if (same == nullptr || same->message_type() != field->message_type()) continue;
    if (!field->is_repeated()) {
      to->SetAllocatedMessage(layer, from->ReleaseMessage(old, field), same);
      continue;
    }
    while (to->FieldSize(*layer, same) < from->FieldSize(*old, field)) to->AddMessage(layer, same);
    for (int i = 0; i < to->FieldSize(*layer, same); ++i) {
      Message* target = to->MutableRepeatedMessage(layer, same, i);
      target->GetReflection()->Swap(target, from->MutableRepeatedMessage(old, field, i));
    }
  }
}

/// Moves V1's transformation fields out of a layer's data parameters (called `name` in places).
template <typename Param>
void MoveTransformation(const std::string& name, Param* param, LayerParameter* layer) {
  TransformationParameter* transform = layer->mutable_transform_param();
  if (param->has_scale()) transform->set_scale(param->scale());
  if (param->has_mean_file()) transform->set_mean_file(param->mean_file());
  if (param->has_crop_size()) transform->set_crop_size(param->crop_size());
  if (param->has_mirror()) transform->set_mirror(param->mirror());
  param->clear_scale();
  param->clear_mean_file();
  param->clear_crop_size();
  param->clear_mirror();
  for (const char* field : {"scale", "mean_file", "crop_size", "mirror"}) {
    RenameField(name + "." + field, std::string("transform_param.") + field, layer);
  }
}

template <typename Param>
bool HasTransformation(const Param& param) {
  return param.has_scale() || param.has_mean_file() || param.has_crop_size() || param.has_mirror();
}

void UpgradeTransformation(LayerParameter* layer) {
  if (layer->type() == "Data" && HasTransformation(layer->data_param())) {
    MoveTransformation("data_param", layer->mutable_data_param(), layer);
  }
  if (layer->type() == "ImageData" && HasTransformation(layer->image_data_param())) {
    MoveTransformation("image_data_param", layer->mutable_image_data_param(), layer);
  }
  if (layer->type() == "WindowData" && HasTransformation(layer->window_data_param())) {
    MoveTransformation("window_data_param", layer->mutable_window_data_param(), layer);
  }
}

/// Names and modes of shared parameters.
void UpgradeSharing(const V1LayerParameter& old, LayerParameter* layer) {
  const auto spec = [layer](int i) {
    while (layer->param_size() <= i) layer->add_param();
    return layer->mutable_param(i);
  };
  for (int i = 0; i < old.param_size(); ++i) spec(i)->set_name(old.param(i));
  for (int i = 0; i < old.blob_share_mode_size(); ++i) {
    spec(i)->set_share_mode(static_cast<ParamSpec::DimCheckMode>(old.blob_share_mode(i)));
  }
}

}  // namespace

std::string TypeOfV1(V1LayerParameter::LayerType type) {
  static const std::map<int, const char*> kTypes = {
      {V1LayerParameter::NONE, ""},
      {V1LayerParameter::ABSVAL, "AbsVal"},
      {V1LayerParameter::ACCURACY, "Accuracy"},
      {V1LayerParameter::ARGMAX, "ArgMax"},
      {V1LayerParameter::BNLL, "BNLL"},
      {V1LayerParameter::CONCAT, "Concat"},
      {V1LayerParameter::CONTRASTIVE_LOSS, "ContrastiveLoss"},
      {V1LayerParameter::CONVOLUTION, "Convolution"},
      {V1LayerParameter::DATA, "Data"},
      {V1LayerParameter::DECONVOLUTION, "Deconvolution"},
      {V1LayerParameter::DROPOUT, "Dropout"},
      {V1LayerParameter::DUMMY_DATA, "DummyData"},
      {V1LayerParameter::EUCLIDEAN_LOSS, "EuclideanLoss"},
      {V1LayerParameter::ELTWISE, "Eltwise"},
      {V1LayerParameter::EXP, "Exp"},
      {V1LayerParameter::FLATTEN, "Flatten"},
      {V1LayerParameter::HDF5_DATA, "HDF5Data"},
      {V1LayerParameter::HDF5_OUTPUT, "HDF5Output"},
      {V1LayerParameter::HINGE_LOSS, "HingeLoss"},
      {V1LayerParameter::IM2COL, "Im2col"},
      {V1LayerParameter::IMAGE_DATA, "ImageData"},
      {V1LayerParameter::INFOGAIN_LOSS, "InfogainLoss"},
      {V1LayerParameter::INNER_PRODUCT, "InnerProduct"},
      {V1LayerParameter::LRN, "LRN"},
      {V1LayerParameter::LSTM, "Lstm"},
      {V1LayerParameter::MEMORY_DATA, "MemoryData"},
      {V1LayerParameter::MULTINOMIAL_LOGISTIC_LOSS, "MultinomialLogisticLoss"},
      {V1LayerParameter::MVN, "MVN"},
      {V1LayerParameter::POOLING, "Pooling"},
      {V1LayerParameter::POWER, "Power"},
      {V1LayerParameter::RELU, "ReLU"},
      {V1LayerParameter::SIGMOID, "Sigmoid"},
      {V1LayerParameter::SIGMOID_CROSS_ENTROPY_LOSS, "SigmoidCrossEntropyLoss"},
      {V1LayerParameter::SILENCE, "Silence"},
      {V1LayerParameter::SOFTMAX, "Softmax"},
      {V1LayerParameter::SOFTMAX_LOSS, "SoftmaxWithLoss"},
      {V1LayerParameter::SPLIT, "Split"},
      {V1LayerParameter::SLICE, "Slice"},
      {V1LayerParameter::TANH, "TanH"},
      {V1LayerParameter::WINDOW_DATA, "WindowData"},
      {V1LayerParameter::THRESHOLD, "Threshold"}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? "" : found->second;
}

void RenamePlace(const std::string& from, const std::string& to, SourcePlace* source) {
  for (FieldPlace& field : *source->mutable_field()) {
    const std::string path = field.path();
    if (!StartsWith(path, from)) continue;
    std::string rest = path.substr(from.size());
    if (!rest.empty() && rest[0] != '.' && rest[0] != '[') continue;
    std::string renamed = to;
    const size_t mark = to.find('%');
    if (mark != std::string::npos) {
      const size_t index = rest.empty() || rest[0] == '.' ? 0 : rest.find(']') + 1;
      renamed.replace(mark, 1, rest.substr(0, index));
      rest.erase(0, index);
    }
    field.set_path(renamed + rest);
  }
}

LayerParameter UpgradeLayer(V1LayerParameter* old, std::vector<std::string>* messages) {
  LayerParameter layer;
  if (old->has_name()) layer.set_name(old->name());
  if (old->has_type()) layer.set_type(TypeOfV1(old->type()));
  layer.mutable_bottom()->Swap(old->mutable_bottom());
  layer.mutable_top()->Swap(old->mutable_top());
  layer.mutable_loss_weight()->Swap(old->mutable_loss_weight());
  MoveMessages(old, &layer);
  UpgradeSharing(*old, &layer);
  UpgradeFactors(*old, &layer);
  RenameField("param", "param%.name", &layer);
  RenameField("blob_share_mode", "param%.share_mode", &layer);
  RenameField("blobs_lr", "param%.lr_mult", &layer);
  RenameField("weight_decay", "param%.decay_mult", &layer);
  UpgradeTransformation(&layer);
  if (old->has_layer()) UpgradeV0(old->mutable_layer(), &layer, messages);
  return layer;
}

}  // namespace moka
