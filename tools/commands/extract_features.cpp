#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <memory>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/atomic_file.hpp"
#include "moka/base/strings.hpp"
#include "moka/data/database.hpp"
#include "moka/net/net.hpp"
#include "moka/net/weights.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "progress.hpp"

namespace moka {
namespace {

/// Where the rows of one blob go.
class FeatureWriter {
 public:
  virtual ~FeatureWriter() = default;
  virtual void Put(const Blob& blob) = 0;
  virtual void Commit() = 0;
};

/// Datums of floats under keys 0000000000, 0000000001, ..., as Caffe writes them.
class DatabaseFeatures : public FeatureWriter {
 public:
  DatabaseFeatures(const std::string& path, const std::string& kind)
      : writer_(path, DatabaseBackendNamed(kind)) {}

  void Put(const Blob& blob) override {
    const Shape& shape = blob.shape();
    Require(shape.axes() > 0 && shape.axes() <= 4, "blob \"", blob.name(), "\" is ",
            shape.ToString(), ", but a record of a database has 1 to 3 axes");
    const int64_t size = shape.Count(1);
    const float* values = blob.data().Read();
    for (int64_t item = 0; item < shape[0]; ++item) {
      Datum datum;
      datum.set_channels(static_cast<int>(shape.LegacyDim(1)));
      datum.set_height(static_cast<int>(shape.LegacyDim(2)));
      datum.set_width(static_cast<int>(shape.LegacyDim(3)));
      datum.mutable_float_data()->Add(values + item * size, values + (item + 1) * size);
      char key[24];
      std::snprintf(key, sizeof key, "%010lld", static_cast<long long>(next_++));
      writer_.Put(key, datum.SerializeAsString());
    }
  }

  void Commit() override { writer_.Commit(); }

 private:
  DatabaseWriter writer_;
  int64_t next_ = 0;
};

/// An array of all rows, named like the blob.
class Hdf5Features : public FeatureWriter {
 public:
  explicit Hdf5Features(const std::string& path)
      : file_(path), hdf5_(Hdf5File::Create(file_.temporary())) {}

  void Put(const Blob& blob) override {
    hdf5_.AppendRows(blob.name(), blob.shape().dims(), blob.data().Read());
  }

  void Commit() override {
    hdf5_.Close();
    file_.Commit();
  }

 private:
  PendingFile file_;
  Hdf5File hdf5_;
};

/// `weights net blobs places batches kind [CPU|GPU [DEVICE_ID=N]]`
struct Request {
  std::string weights, net, kind;
  std::vector<std::string> blobs, places;
  int64_t batches = 0;
};

void ChooseDevice(const std::vector<std::string>& arguments) {
  if (arguments.size() < 7 || arguments[6] == "CPU") return;
  if (arguments[6] != "GPU") {
    throw UsageError(Text("the seventh argument is CPU or GPU, not \"", arguments[6], "\""));
  }
  const std::string device = arguments.size() > 7 ? arguments[7] : "0";
  FLAGS_gpu = device.substr(device.find('=') + 1);
}

Request Parse(const std::vector<std::string>& arguments) {
  if (arguments.size() < 6) {
    throw UsageError(
        "extract_features takes WEIGHTS NET BLOB[,BLOB...] PLACE[,PLACE...] BATCHES KIND");
  }
  Request request;
  request.weights = arguments[0];
  request.net = arguments[1];
  request.blobs = Split(arguments[2], ',');
  request.places = Split(arguments[3], ',');
  request.kind = arguments[5];
  const std::string& number = arguments[4];
  if (number.empty() || number.size() > 9 ||
      number.find_first_not_of("0123456789") != std::string::npos || std::stoll(number) == 0) {
    throw UsageError(Text("the number of batches is a whole number, not \"", number, "\""));
  }
  request.batches = std::stoll(number);
  if (request.blobs.size() != request.places.size()) {
    throw UsageError(Text(request.blobs.size(), " blob(s) and ", request.places.size(),
                          " place(s) were given: give as many of both"));
  }
  ChooseDevice(arguments);
  return request;
}

std::unique_ptr<FeatureWriter> MakeWriter(const std::string& place, const std::string& kind) {
  if (kind == "hdf5") return std::make_unique<Hdf5Features>(place);
  return std::make_unique<DatabaseFeatures>(place, kind);
}

int Run(const std::vector<std::string>& arguments) {
  const Request request = Parse(arguments);
  NetParameter param;
  ReadText(request.net, &param, TextOptionsFromFlags());
  Net net(param, StateFromFlags(TEST), ContextFromFlags());
  LoadWeights({request.weights}, &net, WeightsOptionsFromFlags());
  std::vector<std::unique_ptr<FeatureWriter>> writers;
  for (size_t i = 0; i < request.blobs.size(); ++i) {
    net.blob(request.blobs[i]);  // throws where there is none
    writers.push_back(MakeWriter(request.places[i], request.kind));
  }
  Progress progress(request.batches, "batches");
  int64_t rows = 0;
  for (int64_t batch = 0; batch < request.batches; ++batch) {
    net.Forward();
    for (size_t i = 0; i < writers.size(); ++i) writers[i]->Put(net.blob(request.blobs[i]));
    rows += net.blob(request.blobs[0]).shape()[0];
    progress.Update(batch + 1);
  }
  for (const auto& writer : writers) writer->Commit();
  LOG(INFO) << "Extracted " << rows << " feature vectors of " << Join(request.blobs, ", ");
  return 0;
}

const RegisterCommand kRegistration(
    {"extract_features",
     "writes what a net computes to databases",
     "moka extract_features WEIGHTS NET BLOB[,BLOB...] PLACE[,PLACE...] BATCHES lmdb|leveldb|hdf5 "
     "[CPU|GPU [DEVICE_ID=N]]",
     "Runs so many batches through the net, in phase TEST, and writes each blob, item by item, to\n"
     "its place: a database of Datums with floats, under keys 0000000000, 0000000001, ..., or an\n"
     "HDF5 file with one array, named like the blob.",
     {"gpu", "device", "threads", "phase", "level", "stage", "strict", "skip_mismatch", "lenient"},
     8,
     Run});

}  // namespace
}  // namespace moka
