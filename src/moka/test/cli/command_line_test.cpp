#include <gtest/gtest.h>

#include "moka/test/cli/tool.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// Expects the status and the text in the output.
void Gives(const std::string& arguments, int status, const std::string& text) {
  const ToolRun run = RunTool(arguments);
  EXPECT_EQ(status, run.status) << "moka " << arguments << "\n" << run.output;
  EXPECT_NE(std::string::npos, run.output.find(text))
      << text << " is not in the output of moka " << arguments << ":\n"
      << run.output;
}

TEST(CommandLine, MistakesEndWithTwoAndASuggestion) {
  Gives("", 2, "usage: moka COMMAND");
  Gives("tarin", 2, "moka: unknown command \"tarin\" (did you mean \"train\"?)");
  Gives("train --slover=x", 2, "moka: unknown flag --slover (did you mean \"--solver\"?)");
  Gives("train", 2, "moka: --solver=... is needed");
  Gives("train --solver", 2, "moka: --solver needs a value");
  Gives("train --solver --gpu=0", 2, "moka: --solver needs a value");
  Gives("train --solver=x --threads=many", 2, "moka: --threads takes a whole number, not \"many\"");
  Gives("train --solver=x file", 2, "\"file\" is too much");
  Gives("train --solver=x --snapshot=a --weights=b", 2, "--snapshot and --weights are both given");
  Gives("version --data_from_start=maybe --iterations=x", 0, "means nothing to `moka version`");
}

TEST(CommandLine, ErrorsEndWithOneAndOneMessage) {
  const ToolRun run = RunTool("train --solver=/none.prototxt");
  EXPECT_EQ(1, run.status);
  EXPECT_EQ("moka: cannot open /none.prototxt: No such file or directory\n", run.output);
}

TEST(CommandLine, FlagsMayBeWrittenAsCaffesUsersDo) {
  ScratchFolder folder;
  WriteFile(folder / "net.prototxt",
            "name: \"n\" zzz: 1 layer { name: \"d\" type: \"Input\" top: \"d\" "
            "input_param { shape { dim: 2 dim: 3 } } }");
  const std::string net = folder / "net.prototxt";
  for (const std::string& flags :
       {"-lenient " + net, "--lenient=true " + net, net + " -lenient", "--lenient -- " + net}) {
    Gives("check " + flags, 0, "ok (net \"n\": 1 layer");
  }
  Gives("check --nolenient " + net, 1, "unknown field");
  Gives("check -level 3 -stage a,b -lenient " + net, 0, "ok (net");
}

TEST(CommandLine, CaffeIsTheSameProgram) {
  const ToolRun run =
      RunTool("version; \"$(dirname \"${MOKA:-build/tools/moka}\")\"/caffe version");
  const size_t half = run.output.size() / 2;
  EXPECT_EQ(0, run.status);
  EXPECT_EQ(run.output.substr(0, half), run.output.substr(half));
  EXPECT_EQ(0u, run.output.find("moka "));
}

TEST(CommandLine, GpusThatAreNotThereAreOneMessage) {
  Gives("device_query", 0, "cpu ");
  Gives("device_query --gpu=4711", 1, "moka: ");
  Gives("time --model=examples/fashion_mnist/lenet.prototxt --gpu=4711", 1, "moka: ");
  Gives("time --model=examples/fashion_mnist/lenet.prototxt --gpu=0,1", 1, "several GPUs");
  Gives("time --model=examples/fashion_mnist/lenet.prototxt --gpu=first", 2, "not \"first\"");
}

TEST(Help, ShowsEveryCommandWithItsFlags) {
  Gives("help", 0, "train ");
  Gives("--help", 0, "usage: moka COMMAND");
  Gives("help train", 0, "--sigint_effect=\"stop\"");
  Gives("train --help", 0, "usage:\n  moka train --solver=FILE");
  Gives("help tarin", 2, "did you mean \"train\"?");
  for (const char* command : {"check", "classify", "compare", "device_query", "help", "run",
                              "summary", "test", "time", "train", "version"}) {
    Gives(std::string("help ") + command, 0, std::string("moka ") + command + ": ");
  }
}

TEST(Help, DescribesLayersAndFields) {
  Gives("help layers", 0, "Pooling ");
  Gives("help layer Pooling", 0, "bottoms   1: N x C x H x W");
  Gives("help layer Pooling", 0, "kernel_size     uint32");
  Gives("help layer Poling", 1, "did you mean \"Pooling\"?");
  Gives("help layer", 2, "needs a name");
  Gives("help fields SolverParameter", 0, "base_lr");
  Gives("help fields SolvrParameter", 1, "did you mean \"SolverParameter\"?");
  Gives("help feilds SolverParameter", 2, "did you mean \"fields\"?");
}

// --lenient reaches the nets of a solver.
TEST(CommandLine, TrainIsLenientIfAsked) {
  ScratchFolder folder;
  WriteFile(
      folder / "net.prototxt",
      "zzz: 1 layer { name: \"d\" type: \"Input\" top: \"d\" input_param { shape { dim: 2 } } }");
  WriteFile(folder / "solver.prototxt", "net: \"" + folder / "net.prototxt" +
                                            "\" base_lr: 1 lr_policy: \"fixed\" max_iter: 0 "
                                            "solver_mode: CPU snapshot_after_train: false");
  Gives("train --solver=" + folder / "solver.prototxt", 1, "unknown field \"zzz\"");
  Gives("train --lenient --solver=" + folder / "solver.prototxt", 0, "Optimization Done.");
}

}  // namespace
}  // namespace moka
