#include <gtest/gtest.h>

#include <cmath>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/test/cli/tool.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

void WriteGroups(const GoldenCase& golden, const std::vector<std::string>& groups,
                 const std::string& path) {
  Hdf5File file = Hdf5File::Create(path);
  for (const std::string& group : groups) {
    for (const std::string& name : golden.Arrays(group)) {
      const FloatArray array = golden.Array(group + "/" + name);
      file.Write(group + "/" + name, array.shape, array.data.data());
    }
  }
  file.SetAttribute("loss", golden.Double("loss"));
  file.Close();
}

/// `moka run` on a case of Caffe's own numbers, in the way that the case was computed.
ToolRun RunCase(const GoldenCase& golden, const std::string& device, const ScratchFolder& folder) {
  golden.Unpack(folder.path());
  WriteGroups(golden, {"input", "param", "top_diff"}, folder / "in.h5");
  WriteGroups(golden, {"output", "param_after", "input_diff", "param_diff"}, folder / "caffe.h5");
  return RunTool(Text(
      "run --model=", folder / "net.prototxt", " --input=", folder / "in.h5",
      " --output=", folder / "out.h5", " --phase=", golden.String("phase"),
      " --level=", golden.Int("level"), " --stage=", Join(golden.List("stages"), ","),
      " --forward_times=", golden.Int("n_forward"), golden.Int("backward") ? " --backward" : "",
      golden.Int("force_backward") ? " --force_backward" : "", " --device=", device));
}

struct Case {
  const char* group;
  const char* name;
};

class RunCommand : public testing::TestWithParam<std::tuple<Case, const char*>> {};

// What only the command does: all of the flags, the file formats, and the exit status of compare.
TEST_P(RunCommand, EqualsCaffeBySayOfCompare) {
  const auto& [which, device] = GetParam();
  const GoldenCase golden(which.group, which.name);
  const ScratchFolder folder;
  const ToolRun run = RunCase(golden, device, folder);
  ASSERT_EQ(run.status, 0) << run.output;
  const ToolRun compare =
      RunTool(Text("compare ", folder / "out.h5", " ", folder / "caffe.h5", " --tolerance=1e-5"));
  EXPECT_EQ(compare.status, 0) << compare.output;
  EXPECT_NE(compare.output.find("loss"), std::string::npos) << compare.output;
}

// BatchNorm in TRAIN changes its params; a loss has a loss weight and labels without gradient.
INSTANTIATE_TEST_SUITE_P(
    Cases, RunCommand,
    testing::Combine(testing::Values(Case{"linear", "ip_basic"}, Case{"norm", "bn_train_2d"},
                                     Case{"loss", "softmaxloss_norm_valid_ignore"}),
                     testing::Values("cpu", "shadow")),
    [](const auto& info) {
      return Text(std::get<0>(info.param).name, "_", std::get<1>(info.param));
    });

TEST(RunCommandErrors, NameTheArrayThatTheNetDoesNotHave) {
  const ScratchFolder folder;
  const GoldenCase golden("linear", "ip_basic");
  golden.Unpack(folder.path());
  Hdf5File file = Hdf5File::Create(folder / "in.h5");
  const float value = 1;
  file.Write("input/dat", {1}, &value);
  file.Close();
  const ToolRun run = RunTool(Text("run --model=", folder / "net.prototxt",
                                   " --input=", folder / "in.h5", " --output=", folder / "out.h5"));
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("\"dat\""), std::string::npos) << run.output;
  EXPECT_FALSE(Hdf5File::IsHdf5(folder / "out.h5"));
}

/// Two files of one array each; what compare says of them.
ToolRun CompareArrays(const FloatArray& a, const FloatArray& b, const std::string& flags = "") {
  const ScratchFolder folder;
  for (const auto& [name, array] : {std::make_pair("a.h5", a), std::make_pair("b.h5", b)}) {
    Hdf5File file = Hdf5File::Create(folder / name);
    file.Write("group/array", array.shape, array.data.data());
    file.Close();
  }
  return RunTool(Text("compare ", folder / "a.h5", " ", folder / "b.h5", " ", flags));
}

TEST(CompareCommand, MeasuresByTheLargestMagnitude) {
  const FloatArray a{{2, 2}, {100, 1, 0, 2}}, b{{2, 2}, {100, 1, 0.5f, 2}};  // 0.5 / 100
  EXPECT_EQ(CompareArrays(a, b, "--tolerance=0.006").status, 0);
  const ToolRun run = CompareArrays(a, b, "--tolerance=0.004");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("0.005"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("[1, 0]"), std::string::npos) << run.output;
}

TEST(CompareCommand, TakesNaNForEqualToNaNOnly) {
  const FloatArray nan{{2}, {1, NAN}}, number{{2}, {1, 1}};
  EXPECT_EQ(CompareArrays(nan, nan).status, 0);
  EXPECT_EQ(CompareArrays(nan, number, "--tolerance=1e9").status, 1);
  EXPECT_EQ(CompareArrays(number, nan, "--tolerance=1e9").status, 1);
}

TEST(CompareCommand, DiffersOnShapesAndOnMissingArrays) {
  EXPECT_EQ(CompareArrays({{4}, {1, 2, 3, 4}}, {{2, 2}, {1, 2, 3, 4}}).status, 1);
  const ScratchFolder folder;
  for (const char* name : {"a.h5", "b.h5"}) {
    Hdf5File file = Hdf5File::Create(folder / name);
    const float value = 1;
    file.Write("both", {1}, &value);
    if (name[0] == 'b') file.Write("more/of", {1}, &value);
    file.Close();
  }
  const std::string files = Text(folder / "a.h5", " ", folder / "b.h5");
  const ToolRun run = RunTool("compare " + files);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("only in"), std::string::npos) << run.output;
  EXPECT_EQ(RunTool("compare --only=both " + files).status, 0);
  EXPECT_EQ(RunTool("compare --only=nothing " + files).status, 1);
}

}  // namespace
}  // namespace moka
