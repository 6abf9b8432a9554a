// moka lr, the upgrade programs, and what `moka check` and `moka train` say of a solver.
#include <gtest/gtest.h>

#include <filesystem>

#include "moka/base/atomic_file.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/cli/tool.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

class SolverCommands : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    WriteFile(folder_ / name, text);
    return folder_ / name;
  }

  void Gives(const std::string& arguments, int status, const std::string& text) {
    const ToolRun run = RunTool(arguments);
    EXPECT_EQ(status, run.status) << "moka " << arguments << "\n" << run.output;
    ExpectParts(run.output, {text});
  }

  ScratchFolder folder_;
};

// promise 45
TEST_F(SolverCommands, LrPrintsTheCurveWithoutTheNet) {
  const std::string solver = Write(
      "s.prototxt", "net: 'none' base_lr: 1 lr_policy: 'step' gamma: 0.5 stepsize: 2 max_iter: 5");
  const ToolRun csv = RunTool("lr --solver=" + solver + " --csv");
  EXPECT_EQ("iteration,lr\n0,1\n1,1\n2,0.5\n3,0.5\n4,0.25\n", csv.output);
  const ToolRun plot = RunTool("lr --solver=" + solver);
  EXPECT_EQ(0, plot.status);
  ExpectParts(plot.output,
              {"lr_policy step, 5 iterations", "\n1 |**\n", "\n  |  **\n", "\n  |    *\n",
               "\n0 |\n", "  +-----\n", "iteration    lr\n", "\n        4  0.25\n"});
}

TEST_F(SolverCommands, LrNeedsAnEndAndAPolicy) {
  const std::string solver = Write("s.prototxt", "base_lr: 1 lr_policy: 'fixed'");
  Gives("lr --solver=" + solver, 1, "max_iter is not given");
  const std::string other = Write("o.prototxt", "base_lr: 1 max_iter: 4 lr_policy: 'fixd'");
  Gives("lr --solver=" + other, 1, "o.prototxt:1:24: unknown lr_policy \"fixd\" (did you mean");
  const std::string plateau = Write(
      "p.prototxt", "base_lr: 1 max_iter: 4 lr_policy: 'plateau' gamma: 0.1 plateau_winsize: 2");
  Gives("lr --solver=" + plateau, 0, "steps depend on the training");
}

/// The text without what may differ: spaces, order of fields.
template <typename Message>
std::string Canonical(const std::string& text) {
  Message message;
  ReadTextFrom(text, "text", &message);
  return ToText(message);
}

// All pairs are compared in upgrade_test; here is one of each kind.
TEST_F(SolverCommands, UpgradeProgramsWriteWhatCaffesDo) {
  const std::string input = folder_ / "input.prototxt", output = folder_ / "output.prototxt";
  for (const char* name : {"upgrade_v0_conv", "upgrade_lenet_v1", "upgrade_batchnorm_params",
                           "upgrade_nothing_to_do", "upgrade_solver_adam"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden("io", name);
    const bool solver = StartsWith(name, "upgrade_solver");
    WriteFile(input, golden.File("input.prototxt"));
    const ToolRun run = RunTool(Text(
        solver ? "upgrade_solver_proto_text " : "upgrade_net_proto_text ", input, " ", output));
    EXPECT_EQ(0, run.status) << run.output;
    ExpectParts(run.output, {Text("Wrote upgraded ", solver ? "Solver" : "Net",
                                  "Parameter text proto to ", output)});
    const bool nothing = golden.File("messages.txt").find("already in latest") != std::string::npos;
    EXPECT_EQ(nothing,
              run.output.find("File already in latest proto format: " + input) != std::string::npos)
        << run.output;
    const std::string expected = golden.File("expected.prototxt"), actual = ReadFile(output);
    if (solver) {
      EXPECT_EQ(Canonical<SolverParameter>(actual), Canonical<SolverParameter>(expected));
    } else {
      EXPECT_EQ(Canonical<NetParameter>(actual), Canonical<NetParameter>(expected));
    }
  }
}

TEST_F(SolverCommands, UpgradeWritesBinaryNetsInTodaysForm) {
  NetParameter net;
  ReadTextFrom(
      "layers { name: 'ip' type: INNER_PRODUCT bottom: 'd' top: 'ip' blobs_lr: 2 "
      "blobs { num: 1 channels: 1 height: 1 width: 2 data: 3 data: 4 } }",
      "old", &net);
  const std::string old = Write("old.caffemodel", net.SerializeAsString());
  Gives("upgrade_net_proto_binary " + old + " " + folder_ / "new", 0,
        "Wrote upgraded NetParameter binary proto to");
  ASSERT_TRUE(net.ParseFromString(ReadFile(folder_ / "new")));
  EXPECT_EQ(
      Canonical<NetParameter>(
          "layer { name: 'ip' type: 'InnerProduct' bottom: 'd' top: 'ip' param { lr_mult: 2 } "
          "blobs { num: 1 channels: 1 height: 1 width: 2 data: 3 data: 4 } }"),
      ToText(net));
}

TEST_F(SolverCommands, UpgradeLeavesTheOldFileWhenItFails) {
  const std::string bad = Write("bad.prototxt", "layers { type: NOPE }");
  const std::string out = Write("out.prototxt", "old");
  Gives("upgrade_net_proto_text " + bad + " " + out, 1, "bad.prototxt:1:16: ");
  EXPECT_EQ("old", ReadFile(out));
  Gives("upgrade_net_proto_text " + bad, 2, "needs two files");
  Gives("upgrade_net_proto_binary " + bad + " " + out, 1, "where a binary net is needed");
}

TEST_F(SolverCommands, UnderACommandsNameTheProgramIsThatCommand) {
  const std::string solver = Write("s.prototxt", "base_lr: 1 lr_policy: 'fixed' solver_type: ADAM");
  const char* tool = std::getenv("MOKA");
  const std::string link = folder_ / "upgrade_solver_proto_text";
  std::filesystem::create_symlink(
      std::filesystem::absolute(tool != nullptr ? tool : "build/tools/moka"), link);
  const std::string out = folder_ / "out.prototxt";
  EXPECT_EQ(0, std::system((link + " " + solver + " " + out + " 2>/dev/null").c_str()));
  EXPECT_EQ("base_lr: 1\nlr_policy: \"fixed\"\ntype: \"Adam\"\n", ReadFile(out));
}

TEST_F(SolverCommands, ANetInPlaceOfASolverIsOneLine) {
  const std::string net =
      Write("net.prototxt", "name: 'n' layer { name: 'd' type: 'Input' top: 'd' }");
  const std::string solver = Write("s.prototxt", "base_lr: 1 lr_policy: 'fixed' max_iter: 1");
  EXPECT_EQ("moka: " + net + ": this is a net's prototxt, not a solver's\n",
            RunTool("train --solver=" + net).output);
  EXPECT_EQ("moka: " + solver + ": this is a solver's prototxt, not a net's\n",
            RunTool("test --model=" + solver + " --weights=w").output);
}

TEST_F(SolverCommands, CheckTakesASolverWithoutItsNetAndTrainDoesNot) {
  const std::string solver = Write(
      "s.prototxt", "base_lr: 1 lr_policy: 'fixed' max_iter: 1\nnet: '/no/net' solver_mode: CPU");
  Gives("check " + solver, 0,
        "note: " + solver + ":2:1: net /no/net is not here; only the solver itself was checked");
  Gives("train --solver=" + solver, 1, solver + ":2:1: cannot open /no/net: No such file");
}

TEST_F(SolverCommands, TrainGivesThePlacesThatCheckGives) {
  const std::string solver = Write(
      "s.prototxt", "base_lr: 1 lr_policy: 'fixed' max_iter: 1\ndisplay: -3 solver_mode: CPU");
  Gives("check " + solver, 1, solver + ":2:1: display is -3, but must be at least 0");
  Gives("train --solver=" + solver, 1, solver + ":2:1: display is -3, but must be at least 0");
  Gives("train --threads=1000000 --solver=" + solver, 2, "--threads=1000000 cannot be");
}

}  // namespace
}  // namespace moka
