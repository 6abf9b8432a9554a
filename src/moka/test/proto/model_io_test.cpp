#include "moka/proto/model_io.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

constexpr auto kBinary = SolverParameter::BINARYPROTO;
constexpr auto kHdf5 = SolverParameter::HDF5;

class ModelIoTest : public testing::Test {
 protected:
  /// The message of the Error from reading a file as a model.
  std::string ErrorOf(const std::string& file) {
    try {
      ReadModel(folder_ / file);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::string ErrorOfBytes(const std::string& bytes) {
    WriteFile(folder_ / "file", bytes);
    return ErrorOf("file");
  }

  ScratchFolder folder_;
};

using ByLayer = std::map<std::string, ModelLayer>;

/// The layers of the files one after the other, as loading them into a net has it: later files win.
ByLayer ReadAll(const ScratchFolder& folder, const std::vector<std::string>& files) {
  ByLayer layers;
  for (const std::string& file : files) {
    for (ModelLayer& layer : ReadModel(folder / file).layers) {
      if (!layer.blobs.empty()) layers[layer.name] = layer;
    }
  }
  return layers;
}

NetParameter SmallNet() {
  NetParameter net;
  net.set_name("small");
  net.mutable_source()->set_file("small.prototxt");
  LayerParameter* relu = net.add_layer();
  relu->set_name("relu");
  relu->set_type("ReLU");
  LayerParameter* ip = net.add_layer();
  ip->set_name("inception/3x3");
  ip->set_type("InnerProduct");
  ip->mutable_source()->set_line(7);
  ToBlobProto({{2, 3}, {1, 2, 3, 4, 5, 6}}, ip->add_blobs());
  ToBlobProto({{}, {7}}, ip->add_blobs());
  return net;
}

void ExpectSmallNet(const Model& model) {
  ByLayer layers;
  for (const ModelLayer& layer : model.layers) layers[layer.name] = layer;
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_TRUE(layers.at("relu").blobs.empty());
  const ModelLayer& ip = layers.at("inception/3x3");
  ASSERT_EQ(ip.blobs.size(), 2u);
  EXPECT_EQ(ip.blobs[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(ip.blobs[0].data, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ip.blobs[1].shape, std::vector<int64_t>{});
  EXPECT_EQ(ip.blobs[1].data, std::vector<float>{7});
}

TEST_F(ModelIoTest, ModelsOfAllAgesHoldWhatCaffeReadsFromThem) {
  int compared = 0;
  for (const std::string prefix : {"caffemodel_", "hdf5_weights"}) {
    for (const GoldenCase& golden : GoldenCases("io", prefix)) {
      SCOPED_TRACE(golden.name());
      golden.Unpack(folder_.path());
      const ByLayer layers = ReadAll(folder_, golden.List("weights"));
      for (const std::string& param : golden.Arrays("param")) {
        const size_t slash = param.rfind('/');
        const auto layer = layers.find(param.substr(0, slash));
        // caffemodel_partial leaves layers out; shared parameters stand in the HDF5 file once.
        if (layer == layers.end()) continue;
        const size_t index = std::stoul(param.substr(slash + 1));
        ASSERT_LT(index, layer->second.blobs.size()) << param;
        // Of two files or two layers that give one parameter, Caffe keeps the last.
        if (golden.name() == "caffemodel_shared_conflict" && layer->first == "ip1") continue;
        EXPECT_EQ(layer->second.blobs[index].data, golden.Array("param/" + param).data) << param;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 40);
}

TEST_F(ModelIoTest, WeightsOfASolverCaseAreTheSameInBothFormats) {
  const GoldenCase golden("solver", "sgd_hdf5_snapshot");
  golden.Unpack(folder_.path());
  const ByLayer initial = ReadAll(folder_, {"init.caffemodel"});
  for (const std::string& param : golden.Arrays("param_init")) {
    const size_t slash = param.rfind('/');
    const ModelLayer& layer = initial.at(param.substr(0, slash));
    const FloatArray& blob = layer.blobs[std::stoul(param.substr(slash + 1))];
    EXPECT_EQ(blob.shape, golden.Array("param_init/" + param).shape);
    EXPECT_EQ(blob.data, golden.Array("param_init/" + param).data);
  }
  EXPECT_EQ(ReadAll(folder_, {"snap_iter_10.caffemodel.h5"}).size(), initial.size());
}

TEST_F(ModelIoTest, WrittenModelIsReadBackInBothFormats) {
  EXPECT_EQ(WriteModel(folder_ / "m", SmallNet(), kBinary), folder_ / "m");
  ExpectSmallNet(ReadModel(folder_ / "m"));
  EXPECT_EQ(WriteModel(folder_ / "m.h5", SmallNet(), kHdf5), folder_ / "m.h5");
  ExpectSmallNet(ReadModel(folder_ / "m.h5"));
  EXPECT_EQ(Hdf5File::Open(folder_ / "m.h5").ShapeOf("data/inception/3x3/1"),
            std::vector<int64_t>{});
}

TEST_F(ModelIoTest, WrittenModelHasNoPlaces) {
  WriteModel(folder_ / "m", SmallNet(), kBinary);
  NetParameter net;
  ASSERT_TRUE(net.ParseFromString(ReadFile(folder_ / "m")));
  EXPECT_FALSE(net.has_source());
  EXPECT_FALSE(net.layer(1).has_source());
  EXPECT_EQ(net.layer(1).type(), "InnerProduct");
}

TEST_F(ModelIoTest, GradientsAreWrittenWhereThereAreSome) {
  NetParameter net = SmallNet();
  for (int i = 0; i < 6; ++i) net.mutable_layer(1)->mutable_blobs(0)->add_diff(10.0f * i);
  WriteModel(folder_ / "m.h5", net, kHdf5);
  const Hdf5File file = Hdf5File::Open(folder_ / "m.h5");
  std::vector<int64_t> shape;
  std::vector<float> diff;
  file.Read("diff/inception/3x3/0", &shape, &diff);
  EXPECT_EQ(shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(diff, (std::vector<float>{0, 10, 20, 30, 40, 50}));
  EXPECT_FALSE(file.Has("diff/inception/3x3/1"));
  ExpectSmallNet(ReadModel(folder_ / "m.h5"));
}

// promise 34
TEST_F(ModelIoTest, ModelTooLargeForProtobufIsWrittenAsHdf5) {
  EXPECT_EQ(WriteModel(folder_ / "m", SmallNet(), kBinary, 50), folder_ / "m.h5");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m"));
  ExpectSmallNet(ReadModel(folder_ / "m.h5"));
}

TEST_F(ModelIoTest, BlobsThatAnHdf5FileLeavesOutAreGaps) {
  Hdf5File file = Hdf5File::Create(folder_ / "m.h5");
  const float one = 1;
  file.Write("data/ip/1", {1}, &one);
  file.Close();
  const Model model = ReadModel(folder_ / "m.h5");
  ASSERT_EQ(model.layers[0].blobs.size(), 2u);
  EXPECT_TRUE(model.layers[0].blobs[0].IsMissing());
  EXPECT_FALSE(model.layers[0].blobs[1].IsMissing());
}

// promise 4
TEST_F(ModelIoTest, FailedWriteLeavesTheOldFile) {
  WriteModel(folder_ / "m.h5", SmallNet(), kHdf5);
  NetParameter bad = SmallNet();
  bad.mutable_layer(1)->mutable_blobs(0)->add_data(0);
  EXPECT_THROW(WriteModel(folder_ / "m.h5", bad, kHdf5), Error);
  ExpectSmallNet(ReadModel(folder_ / "m.h5"));
  const std::string nowhere = folder_ / "no/such/folder/m";
  try {
    WriteModel(nowhere, SmallNet(), kBinary);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("bytes to " + nowhere + ": No such file"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(ModelIoTest, InvalidWeightsAreRefusedWithTheReason) {
  const auto refuse = [&](const std::string& name, const std::string& file = "w.caffemodel") {
    GoldenCase("invalid", name).Unpack(folder_.path());
    return ErrorOf(file);
  };
  const std::string w = folder_ / "w.caffemodel";
  EXPECT_EQ(refuse("weights_count"),
            w + ": layer \"ip\": blob 0: has 9 values, but its shape 2 x 5 means 10");
  EXPECT_EQ(refuse("weights_no_shape"), w + ": layer \"ip\": blob 0: has 10 values but no shape");
  EXPECT_EQ(refuse("weights_truncated"),
            w + ": the model is cut short: it has 81 bytes, but what begins at byte 0 ends at byte "
                "88");
  EXPECT_EQ(refuse("weights_garbage"),
            w + ": this is of no known kind, where a model (caffemodel) is needed");
  EXPECT_EQ(
      refuse("weights_empty"),
      w + ": this is an empty file, where a model (caffemodel) is needed\n  the disk was full, "
          "or writing it was interrupted: take an older one");
  EXPECT_EQ(refuse("weights_is_text", "net.prototxt"),
            folder_ / "net.prototxt" +
                ": this is a text (prototxt?), where a model (caffemodel) is needed");
  EXPECT_EQ(refuse("weights_missing_file", "nope.caffemodel"),
            folder_ / "nope.caffemodel: No such file or directory");
  EXPECT_EQ(refuse("weights_h5_no_data_group", "w.h5"),
            folder_ /
                "w.h5: an HDF5 file without the group \"data\", which holds the weights of a "
                "model");
  // Blobs that are sound, and only do not fit the net, are read.
  for (const char* name : {"weights_shape", "weights_blob_count", "weights_legacy_shape"}) {
    EXPECT_EQ(refuse(name), "no error") << name;
  }
}

// promise 17
TEST_F(ModelIoTest, SolverStateInPlaceOfAModelIsNamed) {
  const std::string reason =
      ": this is a solver state, where a model (caffemodel) is needed\n  a state to resume from is "
      "given as --snapshot=FILE";
  const GoldenCase binary("solver", "adam_step"), hdf5("solver", "adam_hdf5_snapshot");
  EXPECT_EQ(ErrorOfBytes(binary.File("snap_iter_10.solverstate")), folder_ / "file" + reason);
  EXPECT_EQ(ErrorOfBytes(hdf5.File("snap_iter_10.solverstate.h5")), folder_ / "file" + reason);
}

TEST_F(ModelIoTest, EveryCutOfAModelIsAnError) {
  const std::string whole = GoldenCase("io", "caffemodel_modern").File("weights.caffemodel");
  NetParameter net;
  ASSERT_TRUE(net.ParseFromString(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteFile(folder_ / "m", whole.substr(0, size));
    try {
      // A cut between two layers cannot be told from a smaller model.
      EXPECT_LT(ReadModel(folder_ / "m").layers.size(), static_cast<size_t>(net.layer_size()));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace moka
