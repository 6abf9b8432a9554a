#include <gtest/gtest.h>

#include <filesystem>

#include "moka/net/net.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

std::unique_ptr<Net> MakeNet(const std::string& path, const std::string& device = "cpu",
                             int labels = 2) {
  NetParameter param;
  ReadTextFrom("layer { name: 'in' type: 'Input' top: 'data' top: 'label' input_param {\n" +
                   Text("shape { dim: 2 dim: 3 } shape { dim: ", labels, " } } }\n") +
                   "layer { name: 'out' type: 'HDF5Output' bottom: 'data' bottom: 'label'\n"
                   "  hdf5_output_param { file_name: '" +
                   path + "' } }",
               "net.prototxt", &param);
  return std::make_unique<Net>(param, NetState(), std::make_shared<Context>(device));
}

/// Fills all inputs with start, start + 1, ... and runs the net.
void Forward(Net* net, float start) {
  for (Blob* input : net->inputs()) {
    float* values = input->data().Write();
    for (int64_t i = 0; i < input->count(); ++i) values[i] = start + static_cast<float>(i);
  }
  net->Forward();
}

class Hdf5OutputLayer : public testing::TestWithParam<const char*> {};

TEST_P(Hdf5OutputLayer, AddsTheRowsOfEachPassAndTheFileAppearsWhole) {
  const TemporaryFolder folder;
  const std::string path = folder / "out.h5";
  WriteFile(path, "what stood there");
  auto net = MakeNet(path, GetParam());
  Forward(net.get(), 10);
  Forward(net.get(), 20);
  net->blob("data").Resize(Shape{1, 3});
  net->blob("label").Resize(Shape{1});
  Forward(net.get(), 30);
  EXPECT_EQ(std::filesystem::file_size(path), 16u) << "touched before the end";
  net.reset();
  const Hdf5File file = Hdf5File::Open(path);
  std::vector<int64_t> shape;
  std::vector<float> values;
  file.Read("data", &shape, &values);
  EXPECT_EQ(shape, std::vector<int64_t>({5, 3}));
  EXPECT_EQ(values,
            std::vector<float>({10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 30, 31, 32}));
  file.Read("label", &shape, &values);
  EXPECT_EQ(shape, std::vector<int64_t>({5}));
  EXPECT_EQ(values, std::vector<float>({10, 11, 20, 21, 30}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1)
      << "something is left beside the file";
}

INSTANTIATE_TEST_SUITE_P(Devices, Hdf5OutputLayer, testing::Values("cpu", "shadow"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Hdf5Output, WritesNothingWithoutAPass) {
  const TemporaryFolder folder;
  MakeNet(folder / "out.h5");
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(Hdf5Output, RefusesRowsThatDoNotGoTogether) {
  const TemporaryFolder folder;
  ExpectParts(ErrorOf([&] { MakeNet(folder / "out.h5", "cpu", 3); }),
              {"\"label\" has 3 rows", "\"data\" has 2"});
  const auto net = MakeNet(folder / "out.h5");
  Forward(net.get(), 1);
  net->blob("data").Resize(Shape{2, 4});
  ExpectParts(ErrorOf([&] { Forward(net.get(), 1); }), {"out.h5", "2 x 3", "2 x 4"});
}

TEST(Hdf5Output, RefusesAFolderThatIsNotThere) {
  ExpectParts(ErrorOf([] { MakeNet("no/such/o.h5"); }),
              {"net.prototxt:", "cannot write no/such/o.h5", "there is no folder no/such"});
}

}  // namespace
}  // namespace moka
