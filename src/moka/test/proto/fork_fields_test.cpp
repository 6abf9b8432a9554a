#include "moka/proto/fork_fields.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "moka/base/strings.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {
namespace {

TEST(ForkFields, HintsAreIgnoredAndWhatChangesAResultIsRefused) {
  EXPECT_EQ(ForkKind::kIgnored, ForkFieldKind("LayerParameter", "quantization_param"));
  EXPECT_EQ(ForkKind::kIgnored, ForkFieldKind("DataParameter", "cache"));
  EXPECT_EQ(ForkKind::kIgnored, ForkFieldKind("ConcatParameter", "engine"));
  EXPECT_EQ(ForkKind::kRefused, ForkFieldKind("LRNParameter", "fuse_type"));
  EXPECT_EQ(ForkKind::kRefused, ForkFieldKind("SolverParameter", "larc_turbo"));
  EXPECT_EQ(ForkKind::kLayer, ForkFieldKind("LayerParameter", "grn_param"));
  EXPECT_EQ(ForkKind::kNone, ForkFieldKind("ConvolutionParameter", "kernel_sice"));
  EXPECT_EQ(ForkKind::kNone, ForkFieldKind("ConvolutionParameter", "engine"));
}

TEST(ForkFields, TheMessageNamesTheForkAndTheConsequence) {
  EXPECT_EQ(
      "\"fuse_type\", known from the OpenCL fork of Caffe, can change results and is not "
      "supported yet",
      ForkFieldMessage("LRNParameter", "fuse_type"));
  EXPECT_EQ("\"version\", known from forks of Caffe, cannot change results and is ignored",
            ForkFieldMessage("NetParameter", "version"));
}

// Each field counted in real files is in the schema or in the table, so that no real file fails
// with "unknown field".
TEST(ForkFields, EveryFieldCountedInRealFilesIsKnown) {
  std::ifstream table("src/moka/test/data/format/fork_fields.tsv");
  ASSERT_TRUE(table) << "run the tests from the top folder";
  int counted = 0;
  for (std::string line; std::getline(table, line);) {
    const auto columns = Split(line, '\t');
    if (columns.size() < 2 || columns[0] != "field") continue;
    const auto name = Split(columns[1], '.');
    if (name == std::vector<std::string>{"NetParameter", "bottom"}) continue;  // a plain mistake
    ++counted;
    const auto* type = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
        "moka." + name[0]);
    ASSERT_TRUE(type) << name[0];
    EXPECT_TRUE(type->FindFieldByName(name[1]) ||
                ForkFieldKind(name[0], name[1]) != ForkKind::kNone)
        << columns[1];
  }
  EXPECT_GT(counted, 200);
}

}  // namespace
}  // namespace moka
