#include <algorithm>
#include <map>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade_steps.hpp"

namespace moka {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const std::map<std::string, const char*>& Types() {
  static const std::map<std::string, const char*> kTypes = {
      {"accuracy", "Accuracy"},
      {"bnll", "BNLL"},
      {"concat", "Concat"},
      {"conv", "Convolution"},
      {"data", "Data"},
      {"dropout", "Dropout"},
      {"euclidean_loss", "EuclideanLoss"},
      {"flatten", "Flatten"},
      {"hdf5_data", "HDF5Data"},
      {"hdf5_output", "HDF5Output"},
      {"im2col", "Im2col"},
      {"images", "ImageData"},
      {"infogain_loss", "InfogainLoss"},
      {"innerproduct", "InnerProduct"},
      {"lrn", "LRN"},
      {"multinomial_logistic_loss", "MultinomialLogisticLoss"},
      {"pool", "Pooling"},
      {"relu", "ReLU"},
      {"sigmoid", "Sigmoid"},
      {"softmax", "Softmax"},
      {"softmax_loss", "SoftmaxWithLoss"},
      {"split", "Split"},
      {"tanh", "TanH"},
      {"window_data", "WindowData"}};
  return kTypes;
}

/// Where a field of a V0 layer belongs in today's layer of a type.
struct Move {
  const char* type;
  const char* field;
  const char* message;
  const char* target;
};

constexpr Move kMoves[] = {
    {"Convolution", "num_output", "convolution_param", "num_output"},
    {"Convolution", "biasterm", "convolution_param", "bias_term"},
    {"Convolution", "weight_filler", "convolution_param", "weight_filler"},
    {"Convolution", "bias_filler", "convolution_param", "bias_filler"},
    {"Convolution", "pad", "convolution_param", "pad"},
    {"Convolution", "kernelsize", "convolution_param", "kernel_size"},
    {"Convolution", "group", "convolution_param", "group"},
    {"Convolution", "stride", "convolution_param", "stride"},
    {"InnerProduct", "num_output", "inner_product_param", "num_output"},
    {"InnerProduct", "biasterm", "inner_product_param", "bias_term"},
    {"InnerProduct", "weight_filler", "inner_product_param", "weight_filler"},
    {"InnerProduct", "bias_filler", "inner_product_param", "bias_filler"},
    {"Pooling", "pool", "pooling_param", "pool"},
    {"Pooling", "pad", "pooling_param", "pad"},
    {"Pooling", "kernelsize", "pooling_param", "kernel_size"},
    {"Pooling", "stride", "pooling_param", "stride"},
    {"Dropout", "dropout_ratio", "dropout_param", "dropout_ratio"},
    {"LRN", "local_size", "lrn_param", "local_size"},
    {"LRN", "alpha", "lrn_param", "alpha"},
    {"LRN", "beta", "lrn_param", "beta"},
    {"LRN", "k", "lrn_param", "k"},
    {"Concat", "concat_dim", "concat_param", "concat_dim"},
    {"InfogainLoss", "source", "infogain_loss_param", "source"},
    {"HDF5Data", "source", "hdf5_data_param", "source"},
    {"HDF5Data", "batchsize", "hdf5_data_param", "batch_size"},
    {"Data", "source", "data_param", "source"},
    {"Data", "batchsize", "data_param", "batch_size"},
    {"Data", "rand_skip", "data_param", "rand_skip"},
    {"ImageData", "source", "image_data_param", "source"},
    {"ImageData", "batchsize", "image_data_param", "batch_size"},
    {"ImageData", "rand_skip", "image_data_param", "rand_skip"},
    {"ImageData", "shuffle_images", "image_data_param", "shuffle"},
    {"ImageData", "new_height", "image_data_param", "new_height"},
    {"ImageData", "new_width", "image_data_param", "new_width"},
    {"WindowData", "source", "window_data_param", "source"},
    {"WindowData", "batchsize", "window_data_param", "batch_size"},
    {"WindowData", "det_fg_threshold", "window_data_param", "fg_threshold"},
    {"WindowData", "det_bg_threshold", "window_data_param", "bg_threshold"},
    {"WindowData", "det_fg_fraction", "window_data_param", "fg_fraction"},
    {"WindowData", "det_context_pad", "window_data_param", "context_pad"},
    {"WindowData", "det_crop_mode", "window_data_param", "crop_mode"},
};

/// Fields that any layer that reads pictures has.
constexpr Move kTransformation[] = {
    {"", "scale", "transform_param", "scale"},
    {"", "meanfile", "transform_param", "mean_file"},
    {"", "cropsize", "transform_param", "crop_size"},
    {"", "mirror", "transform_param", "mirror"},
};

const Move* FindMove(const std::string& type, const std::string& field) {
  for (const Move& move : kMoves) {
    if (type == move.type && field == move.field) return &move;
  }
  const bool pictures = type == "Data" || type == "ImageData" || type == "WindowData";
  for (const Move& move : kTransformation) {
    if (pictures && field == move.field) return &move;
  }
  return nullptr;
}

/// Copies the value of a field to a field of another message that is of the same kind, or the first
/// element of a list of it.
void CopyField(const Message& source, const FieldDescriptor* from, Message* target,
               const FieldDescriptor* to) {
  const auto *get = source.GetReflection(), *set = target->GetReflection();
  switch (to->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32: {
      const uint32_t value = from->cpp_type() == FieldDescriptor::CPPTYPE_INT32
                                 ? static_cast<uint32_t>(get->GetInt32(source, from))
                                 : get->GetUInt32(source, from);
      return to->is_repeated() ? set->AddUInt32(target, to, value)
                               : set->SetUInt32(target, to, value);
    }
    case FieldDescriptor::CPPTYPE_FLOAT:
      return set->SetFloat(target, to, get->GetFloat(source, from));
    case FieldDescriptor::CPPTYPE_BOOL:
      return set->SetBool(target, to, get->GetBool(source, from));
    case FieldDescriptor::CPPTYPE_ENUM:
      return set->SetEnumValue(target, to, get->GetEnumValue(source, from));
    case FieldDescriptor::CPPTYPE_STRING:
      return set->SetString(target, to, get->GetString(source, from));
    default:
      return set->MutableMessage(target, to)->CopyFrom(get->GetMessage(source, from));
  }
}

void Apply(const Move& move, const V0LayerParameter& old, LayerParameter* layer) {
  const FieldDescriptor* param = layer->GetDescriptor()->FindFieldByName(move.message);
  Message* message = layer->GetReflection()->MutableMessage(layer, param);
  CopyField(old, old.GetDescriptor()->FindFieldByName(move.field), message,
            message->GetDescriptor()->FindFieldByName(move.target));
  RenameField(std::string("layer.") + move.field, std::string(move.message) + "." + move.target,
              layer);
}

std::string TypeOfV0(const V0LayerParameter& old, const LayerParameter& layer) {
  const auto found = Types().find(old.type());
  if (found != Types().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, type] : Types()) names.push_back(name);
  FailAt(layer, "layer.type", "unknown type \"", old.type(), "\" of the oldest (V0) format",
         DidYouMean(old.type(), names));
}

bool IsPadding(const V1LayerParameter& layer) { return layer.layer().type() == "padding"; }

[[noreturn]] void FailAtPadding(const V1LayerParameter& padding, const std::string& what) {
  LayerParameter layer;
  layer.set_name(padding.layer().name());
  layer.set_type("padding");
  *layer.mutable_source() = padding.source();
  FailAt(layer, "", what);
}

}  // namespace

void UpgradeV0(V0LayerParameter* old, LayerParameter* layer, std::vector<std::string>* messages) {
  if (old->has_name()) layer->set_name(old->name());
  if (old->has_type()) layer->set_type(TypeOfV0(*old, *layer));
  std::vector<const FieldDescriptor*> fields;
  old->GetReflection()->ListFields(*old, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string& name = field->name();
    if (name == "name" || name == "type" || field->is_repeated()) continue;
    if (name == "hdf5_output_param") {
      *layer->mutable_hdf5_output_param() = old->hdf5_output_param();
    } else if (const Move* move = FindMove(layer->type(), name)) {
      Apply(*move, *old, layer);
    } else {
      messages->push_back(
          Text(LayerPlace(*layer, "layer." + name), ": ", name, " has no effect here"));
    }
  }
  for (BlobProto& blob : *old->mutable_blobs()) layer->add_blobs()->Swap(&blob);
  UpgradeFactors(*old, layer);
  RenameField("layer.blobs_lr", "param%.lr_mult", layer);
  RenameField("layer.weight_decay", "param%.decay_mult", layer);
  RenameField("layer.name", "name", layer);
  RenameField("layer.type", "type", layer);
  RenameField("layer.hdf5_output_param", "hdf5_output_param", layer);
}

void FoldPadding(NetParameter* net) {
  std::map<std::string, const V1LayerParameter*> padded;  // by blob, if last written by a padding
  for (V1LayerParameter& layer : *net->mutable_layers()) {
    for (std::string& bottom : *layer.mutable_bottom()) {
      const auto found = padded.find(bottom);
      if (found == padded.end()) continue;
      const V1LayerParameter& padding = *found->second;
      const std::string& type = layer.layer().type();
      if (type != "conv" && type != "pool") {
        const std::string& name = layer.has_layer() ? layer.layer().name() : layer.name();
        FailAtPadding(padding, "a padding layer may only feed conv or pool, but \"" + name +
                                   "\" reads \"" + bottom + "\"");
      }
      layer.mutable_layer()->set_pad(padding.layer().pad());
      bottom = padding.bottom(0);
    }
    for (const std::string& top : layer.top()) padded.erase(top);
    if (!IsPadding(layer)) continue;
    if (layer.bottom_size() != 1 || layer.top_size() != 1) {
      FailAtPadding(layer, "a padding layer needs one bottom and one top");
    }
    padded[layer.top(0)] = &layer;
  }
  auto* layers = net->mutable_layers();
  layers->erase(std::remove_if(layers->begin(), layers->end(), IsPadding), layers->end());
}

}  // namespace moka
