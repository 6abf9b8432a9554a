#include "moka/test/golden.hpp"

#include <gtest/gtest.h>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"

namespace moka {
namespace {

TEST(Golden, EveryGroupHasItsCases) {
  const std::pair<const char*, size_t> counts[] = {
      {"act", 52},    {"conv", 45},      {"data", 72},  {"invalid", 194}, {"io", 90},
      {"linear", 43}, {"loss", 43},      {"net", 36},   {"nets", 9},      {"norm", 24},
      {"pool", 27},   {"recurrent", 21}, {"shape", 83}, {"solver", 97}};
  for (const auto& [group, count] : counts) EXPECT_EQ(GoldenNames(group).size(), count) << group;
}

TEST(Golden, NetCaseHasTextAttributesAndArrays) {
  const GoldenCase golden("conv", "conv_0d_kernel_given");
  EXPECT_NE(golden.File().find("type: \"Convolution\""), std::string::npos);
  EXPECT_EQ(golden.String("phase"), "TEST");
  EXPECT_EQ(golden.String("stages"), "");
  EXPECT_TRUE(golden.List("stages").empty());
  EXPECT_EQ(golden.List("net_inputs"), std::vector<std::string>{"data"});
  EXPECT_EQ(golden.Int("n_forward"), 1);
  EXPECT_EQ(golden.Double("loss"), 0);
  EXPECT_EQ(golden.Arrays("param"), (std::vector<std::string>{"conv/0", "conv/1"}));
  EXPECT_TRUE(golden.Arrays("param_after").empty());
  // y = W x + b, checked by hand on the first number.
  const FloatArray x = golden.Array("input/data"), w = golden.Array("param/conv/0");
  EXPECT_EQ(x.shape, (std::vector<int64_t>{3, 4}));
  float y = golden.Array("param/conv/1").data[0];
  for (int i = 0; i < 4; ++i) y += x.data[i] * w.data[i];
  EXPECT_NEAR(golden.Array("output/out").data[0], y, 1e-6);
}

TEST(Golden, FilesOfACaseAreUnpackedByteByByte) {
  const GoldenCase golden("solver", "sgd_step");
  ScratchFolder folder;
  golden.Unpack(folder.path());
  EXPECT_EQ(ReadFile(folder / "init.caffemodel"), golden.File("init.caffemodel"));
  EXPECT_EQ(ReadFile(folder / "list.txt"), "data.h5\n");
  EXPECT_EQ(Hdf5File::Open(folder / "data.h5").Arrays(""),
            (std::vector<std::string>{"data", "label"}));
}

TEST(Golden, UnknownCaseIsAnError) {
  EXPECT_THROW(GoldenCase("conv", "no_such_case"), Error);
  EXPECT_THROW(GoldenNames("no_such_group"), Error);
}

}  // namespace
}  // namespace moka
