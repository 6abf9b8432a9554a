#include <gtest/gtest.h>

#include "moka/test/cli/tool.hpp"

namespace moka {
namespace {

const char kFile[] = "src/moka/test/cli/ten_mistakes.prototxt";

// Promise: a prototxt with ten different mistakes; all are named with places and suggestions.
TEST(CheckCommand, NamesTenMistakesAtOnce) {
  const ToolRun run = RunTool(std::string("check ") + kFile);
  EXPECT_EQ(1, run.status);
  const char* const problems[] = {
      ":14:38: unknown field \"kernal_size\" in ConvolutionParameter (did you mean "
      "\"kernel_size\"?)",
      ":21:25: unknown value \"MAXX\" of pool (did you mean \"MAX\"?)",
      ":23:1: layer \"conv2\" (Convolutoin): unknown layer type \"Convolutoin\" (did you mean "
      "\"Convolution\"?)",
      ":30:1: layer \"relu2\" (ReLU): unknown bottom \"cnov2\" (did you mean \"conv2\"?)",
      ":41:3: layer \"conv3\" (Convolution): the kernel does not fit",
      ":48:3: layer \"ip1\" (InnerProduct): num_output",
      ":55:37: num_output takes a whole number of at least 0, not \"10\"; leave out the quotes",
      ":57:1: layer \"ip3\" (InnerProduct): top \"conv1\" has the name of a blob that is there",
      ":64:1: layer \"prob\" (Softmax): takes 1 bottom(s), but has 2",
      ":71:1: layer \"loss\" (SoftmaxWithLoss): unknown bottom \"labels\"",
  };
  size_t at = 0;
  for (const char* problem : problems) {
    at = run.output.find(std::string(kFile) + problem, at);
    ASSERT_NE(std::string::npos, at) << problem << " is not, in order, in:\n" << run.output;
  }
  EXPECT_NE(std::string::npos, run.output.find(": 10 problems\n")) << run.output;
}

TEST(CheckCommand, GoesOnToTheNextFile) {
  const ToolRun run = RunTool(std::string("check /none ") + kFile);
  EXPECT_EQ(1, run.status);
  EXPECT_NE(std::string::npos, run.output.find("/none: 1 problem\n")) << run.output;
  EXPECT_NE(std::string::npos, run.output.find(": 10 problems\n")) << run.output;
}

TEST(CheckCommand, SumsUpSoundFiles) {
  const std::string file = "examples/fashion_mnist/lenet.prototxt";
  const ToolRun run = RunTool("check " + file);
  EXPECT_EQ(0, run.status);
  EXPECT_EQ(file + ": ok (net \"LeNet\": 9 layers in TEST, 431,080 params)\n", run.output);
}

TEST(CheckCommand, NeedsAFile) { EXPECT_EQ(2, RunTool("check").status); }

}  // namespace
}  // namespace moka
