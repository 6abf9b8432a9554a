// Solvers, states and weights that Caffe refuses, and why.
#include <gtest/gtest.h>

#include <filesystem>

#include "moka/base/strings.hpp"
#include "moka/net/weights.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/solver/solver.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// A folder with a case's files, in which one works for the life of the object.
class InCase {
 public:
  explicit InCase(const GoldenCase& golden) : before_(std::filesystem::current_path()) {
    golden.Unpack(folder_.path());
    std::filesystem::current_path(folder_.path());
  }
  ~InCase() { std::filesystem::current_path(before_); }

 private:
  ScratchFolder folder_;
  std::filesystem::path before_;
};

/// What the case says is done with its files: "load", "train", "restore:FILE" or "weights:FILE".
void Act(const GoldenCase& golden) {
  const std::string action = Split(golden.File("action.txt"), ' ')[0];
  const auto argument = action.substr(action.find(':') + 1);
  const auto context = std::make_shared<Context>("cpu", 1);
  if (StartsWith(action, "weights:")) {
    NetParameter param;
    ReadText("net.prototxt", &param);
    NetState state;
    state.set_phase(TEST);
    Net net(param, state, context);
    LoadWeights({argument}, &net);
    return;
  }
  Solver solver(ReadSolver("solver.prototxt"), context);
  if (StartsWith(action, "restore:")) solver.Restore(argument);
  if (action == "train") solver.Solve();
}

struct InvalidSolver {
  const char* name;
  std::vector<std::string> parts;  // of the message
};

class InvalidSolvers : public testing::TestWithParam<InvalidSolver> {};

// promise 3
TEST_P(InvalidSolvers, AreRefusedWithTheReason) {
  const GoldenCase golden("invalid", GetParam().name);
  const std::string message = [&] {
    const InCase in(golden);
    return ErrorOf([&] { Act(golden); });
  }();
  ExpectParts(message, GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Solvers, InvalidSolvers,
    testing::Values(
        InvalidSolver{"solver_adagrad_momentum",
                      {"solver.prototxt:", "AdaGrad has no momentum, but the solver sets it to"}},
        InvalidSolver{"solver_average_loss_zero",
                      {"solver.prototxt:7:1: average_loss is 0, but must be at least 1"}},
        InvalidSolver{"solver_missing_net_file",
                      {"solver.prototxt:1:1: ", "No such file", "paths are relative"}},
        InvalidSolver{"solver_negative_gamma", {"solver.prototxt:", "gamma is -0.5"}},
        InvalidSolver{"solver_no_lr_policy", {"solver.prototxt:1:1: ", "has no lr_policy"}},
        InvalidSolver{"solver_restore_garbage", {"s.solverstate: this is of no known kind"}},
        InvalidSolver{"solver_restore_learned_net_missing",
                      {"s.solverstate belongs to the model ", "neither there nor beside"}},
        InvalidSolver{"solver_restore_missing", {"nope.solverstate: No such file"}},
        InvalidSolver{"solver_rmsprop_momentum",
                      {"solver.prototxt:", "RMSProp has no momentum, but the solver sets it to"}},
        InvalidSolver{"solver_sigmoid_negative_gamma", {"solver.prototxt:", "gamma is -"}},
        InvalidSolver{"solver_step_without_stepsize",
                      {"solver.prototxt:", "lr_policy \"step\" needs stepsize"}},
        InvalidSolver{"solver_test_interval_missing",
                      {"solver.prototxt:", "no test_interval says when"}},
        InvalidSolver{"solver_test_iter_count",
                      {"solver.prototxt:", "2 test_iter for 1 test net(s)"}},
        InvalidSolver{"solver_two_nets", {"solver.prototxt:7:1: the solver names 2 training nets"}},
        InvalidSolver{"solver_type_twice", {"solver.prototxt:", "both type", "solver_type"}},
        InvalidSolver{"solver_unknown_type",
                      {"solver.prototxt:", "unknown solver type \"Adamax\"", "\"Adam\""}},
        InvalidSolver{"solver_weights_missing", {"nope: No such file"}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Weights, InvalidSolvers,
    testing::Values(
        InvalidSolver{"weights_missing_file", {"nope.caffemodel: No such file"}},
        InvalidSolver{"weights_shape", {"net.prototxt:", "layer \"ip\"", "3 x 5", "2 x 5"}},
        InvalidSolver{"weights_blob_count",
                      {"net.prototxt:", "layer \"ip\"", "learns 2 blob(s), but has 1"}},
        InvalidSolver{"weights_count", {"has 9 values, but its shape 2 x 5"}},
        InvalidSolver{"weights_no_shape", {"has 10 values but no shape"}},
        InvalidSolver{"weights_truncated", {"cut short"}},
        InvalidSolver{"weights_garbage", {"no known kind"}},
        InvalidSolver{"weights_empty", {"empty file"}},
        InvalidSolver{"weights_is_text", {"text (prototxt?)"}},
        InvalidSolver{"weights_legacy_shape", {"net.prototxt:", "layer \"ip\"", "2 x 5"}},
        InvalidSolver{"weights_h5_shape", {"net.prototxt:", "layer \"ip\"", "3 x 5", "2 x 5"}},
        InvalidSolver{"weights_h5_no_data_group", {"without the group \"data\""}}),
    [](const auto& info) { return info.param.name; });

// promise 5: what Caffe refuses.
TEST(InvalidSolver, AFolderForSnapshotsThatIsNotThereIsMade) {
  const GoldenCase golden("invalid", "solver_snapshot_dir");
  const InCase in(golden);
  Solver(ReadSolver("solver.prototxt"), std::make_shared<Context>("cpu", 1)).Solve();
  EXPECT_TRUE(std::filesystem::exists("no/such/snap_iter_4.solverstate"));
}

}  // namespace
}  // namespace moka
