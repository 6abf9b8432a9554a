#include <gtest/gtest.h>

#include <regex>

#include "moka/base/atomic_file.hpp"
#include "moka/test/cli/tool.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

// A Data layer without data, and a product of 8 x 48 and 48 x 10: 2 * 8 * 48 * 10 = 7680 operations
// and the bias.
class TimeCommand : public testing::Test {
 protected:
  ToolRun Time(const std::string& transform, const std::string& flags) {
    WriteFileAtomically(folder_ / "net.prototxt", R"(
      layer { name: "data" type: "Data" top: "data" top: "label"
              data_param { source: "/no/such/lmdb" batch_size: 8 }
              transform_param { )" + transform + R"( } }
      layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
              inner_product_param { num_output: 10 } }
      layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" })");
    return RunTool("time --model=" + folder_ / "net.prototxt" + " --iterations=2 " + flags);
  }

  ScratchFolder folder_;
};

bool Matches(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

TEST_F(TimeCommand, TakesRandomDataWhereThereIsNone) {
  const ToolRun run = Time("crop_size: 4", "");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_TRUE(Matches(run.output, R"(net\.prototxt:2:\d+: layer "data".*random data)"))
      << run.output;
  for (const char* line :
       {R"(ip +InnerProduct +MOKA +0\.0 +\d+\.\d{3} .* \d+\.\d{3} )", "batch 8, cpu",
        R"(\d+\.\d images/s)", R"(\] Average Forward pass: \S+ ms\.)",
        R"(\] Average Backward pass: \S+ ms\.)", R"(\] Average Forward-Backward: \S+ ms\.)",
        R"(\] Total Time: \S+ ms\.)"}) {
    EXPECT_TRUE(Matches(run.output, line)) << line << " is not in: " << run.output;
  }
}

TEST_F(TimeCommand, AsksForTheShapeWhereNothingTellsIt) {
  const ToolRun run = Time("", "");
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(Matches(run.output, "--data_shape=")) << run.output;
  EXPECT_EQ(Time("", "--data_shape=8,3,x").status, 2);
}

// 2 * 1000 * 3000 * 10 operations of the product.
TEST_F(TimeCommand, CountsTheOperationsAtTheShapeThatIsGiven) {
  const ToolRun run = Time("", "--data_shape=1000,3,20,50 --phase=TEST");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_TRUE(Matches(run.output, R"(ip +InnerProduct +MOKA +60\.0 )")) << run.output;
  EXPECT_TRUE(Matches(run.output, R"(backward 0\.000 ms)")) << run.output;
}

}  // namespace
}  // namespace moka
