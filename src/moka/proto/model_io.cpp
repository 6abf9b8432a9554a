#include "moka/proto/model_io.hpp"

#include <glog/logging.h>

#include <algorithm>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/file_kind.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/message_file.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"

namespace moka {
namespace {

using Blobs = google::protobuf::RepeatedPtrField<BlobProto>;

constexpr char kWanted[] = "a model (caffemodel)";

// --- binary
// ---------------------------------------------------------------------------------------

/// Takes the blobs out of a stored layer, one after the other to save memory.
ModelLayer TakeLayer(const std::string& path, const std::string& name, const std::string& type,
                     Blobs* blobs) {
  ModelLayer layer{name, type, {}};
  for (int i = 0; i < blobs->size(); ++i) {
    try {
      layer.blobs.push_back(FromBlobProto(blobs->Get(i)));
    } catch (Error& error) {
      throw error.In(Text(path, ": layer \"", name, "\": blob ", i));
    }
    blobs->Mutable(i)->Clear();
  }
  return layer;
}

ModelLayer TakeOldLayer(const std::string& path, V1LayerParameter* layer) {
  if (!layer->has_layer()) {
    return TakeLayer(path, layer->name(), TypeOfV1(layer->type()), layer->mutable_blobs());
  }
  V0LayerParameter* oldest = layer->mutable_layer();
  return TakeLayer(path, oldest->name(), "", oldest->mutable_blobs());
}

Model ReadBinaryModel(const std::string& path) {
  NetParameter net;
  ReadMessage(path, "model", &net);
  Model model{path, {}};
  for (V1LayerParameter& layer : *net.mutable_layers()) {
    model.layers.push_back(TakeOldLayer(path, &layer));
  }
  for (LayerParameter& layer : *net.mutable_layer()) {
    model.layers.push_back(TakeLayer(path, layer.name(), layer.type(), layer.mutable_blobs()));
  }
  return model;
}

// --- HDF5
// -----------------------------------------------------------------------------------------

/// The number that names a blob; -1 when the name is none.
int BlobIndex(const std::string& name) {
  const bool number =
      !name.empty() && name.size() < 6 && name.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(name) : -1;
}

/// Adds the layer in a group, if there is one, and those in the groups below.
void ReadLayers(const Hdf5File& file, const std::string& group, const std::string& name,
                Model* model) {
  ModelLayer layer{name, "", {}};
  const std::vector<std::string> children = file.Children(group);
  bool holds_blobs = children.empty();
  for (const std::string& child : children) {
    const std::string path = group + "/" + child;
    if (file.IsGroup(path)) {
      ReadLayers(file, path, name.empty() ? child : name + "/" + child, model);
      continue;
    }
    const int index = BlobIndex(child);
    Require(index >= 0 && !name.empty(), file.path(), ": \"", path,
            "\": an array where only blobs of layers are expected (data/LAYER/0, 1, ...)");
    if (static_cast<int>(layer.blobs.size()) <= index) layer.blobs.resize(index + 1);
    file.Read(path, &layer.blobs[index].shape, &layer.blobs[index].data);
    holds_blobs = true;
  }
  if (holds_blobs && !name.empty()) model->layers.push_back(std::move(layer));
}

Model ReadHdf5Model(const std::string& path) {
  const Hdf5File file = Hdf5File::Open(path);
  if (!file.IsGroup("data")) {
    if (file.Has("iter")) FailAtKind(path, FileKind::kSolverState, kWanted);
    Fail(path, ": an HDF5 file without the group \"data\", which holds the weights of a model");
  }
  Model model{path, {}};
  ReadLayers(file, "data", "", &model);
  return model;
}

/// Writes data/LAYER/I, and diff/LAYER/I for the blobs that have gradients.
void WriteLayer(const LayerParameter& layer, Hdf5File* file) {
  const std::string data = "data/" + layer.name(), diff = "diff/" + layer.name();
  file->MakeGroup(data);
  for (int i = 0; i < layer.blobs_size(); ++i) {
    const BlobProto& blob = layer.blobs(i);
    const FloatArray array = FromBlobProto(blob);
    const std::string index = "/" + std::to_string(i);
    file->Write(data + index, array.shape, array.data.data());
    if (blob.diff_size() == 0) continue;
    Require(blob.diff_size() == static_cast<int>(array.data.size()), "layer \"", layer.name(),
            "\": blob ", i, " has ", array.data.size(), " values but ", blob.diff_size(),
            " gradients");
    file->Write(diff + index, array.shape, blob.diff().data());
  }
}

void WriteHdf5Model(const std::string& path, const NetParameter& net) {
  WriteAtomically(path, [&](const std::string& temporary) {
    Hdf5File file = Hdf5File::Create(temporary);
    file.MakeGroup("data");
    for (const LayerParameter& layer : net.layer()) WriteLayer(layer, &file);
    file.Close();
  });
}

}  // namespace

Model ReadModel(const std::string& path) {
  const FileKind kind = KindOf(path);
  if (kind == FileKind::kHdf5) return ReadHdf5Model(path);
  if (kind == FileKind::kModel) return ReadBinaryModel(path);
  FailAtKind(path, kind, kWanted);
}

std::string WriteModel(const std::string& path, NetParameter net,
                       SolverParameter::SnapshotFormat format, int64_t largest) {
  if (format == SolverParameter::HDF5) {
    WriteHdf5Model(path, net);
    return path;
  }
  StripSource(&net);
  const auto size = static_cast<int64_t>(net.ByteSizeLong());
  if (size > largest) {
    LOG(WARNING) << "the model has " << HumanBytes(static_cast<double>(size))
                 << ", more than protobuf can write: written as HDF5 to " << path << ".h5";
    WriteHdf5Model(path + ".h5", net);
    return path + ".h5";
  }
  WriteMessage(path, net);
  return path;
}

}  // namespace moka
