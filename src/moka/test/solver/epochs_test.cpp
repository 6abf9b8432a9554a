// Epochs, tests of one pass, and what depends on the results of training.
#include <gtest/gtest.h>

#include <filesystem>

#include "moka/proto/text_reader.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/progress.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/solver/lenet.hpp"

namespace moka {
namespace {

std::unique_ptr<Solver> MakeSolver(const SolverParameter& param, const char* device = "cpu") {
  return std::make_unique<Solver>(param, std::make_shared<Context>(device, 1));
}

// 3 passes over 100 pictures in iterations of 2 x 8: 300 / 16, rounded up.
TEST(Epochs, BecomeIterations) {
  const LenetTraining training(100);
  SolverParameter param = training.Param(8, "iter_size: 2 lr_policy: 'poly' power: 1");
  param.clear_max_iter();
  param.set_max_epoch(3);
  EXPECT_EQ(WithIterations(param).max_iter(), 19);
  const auto solver = MakeSolver(param);
  EXPECT_EQ(solver->param().max_iter(), 19);
  EXPECT_FLOAT_EQ(LearningRate(solver->param(), 10), 0.01f * 9 / 19);
}

TEST(Epochs, NeedToKnowHowManyRecordsThereAre) {
  const LenetTraining training(20);
  SolverParameter param = training.Param(8, "max_epoch: 3");
  ExpectParts(ErrorOf([&] { MakeSolver(param); }), {"max_iter and max_epoch"});
  param.clear_max_iter();
  LayerParameter* data = param.mutable_net_param()->mutable_layer(0);
  data->set_type("DummyData");
  ReadTextFrom("shape { dim: 2 dim: 1 dim: 28 dim: 28 } shape { dim: 2 }", "dummy",
               data->mutable_dummy_data_param());
  ExpectParts(ErrorOf([&] { MakeSolver(param); }), {"max_epoch", "how many records"});
}

class OnePass : public testing::TestWithParam<const char*> {};

// 100 pictures in batches of 16, the last of 4, and at once.
TEST_P(OnePass, CountsEachRecordOnce) {
  const LenetTraining training(100);
  const auto parts = MakeSolver(training.Param(16, "test_interval: 5"), GetParam());
  const auto whole = MakeSolver(training.Param(100, "test_interval: 5 test_iter: 1"), GetParam());
  EXPECT_EQ(parts->param().test_iter(0), 7);
  const float expected = whole->TestAll()[0][0];
  for (int time = 0; time < 3; ++time) {
    EXPECT_NEAR(parts->TestAll()[0][0], expected, 1e-5f * expected) << "test " << time;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OnePass, testing::Values("cpu", "shadow"));

TEST(OnePass, IsTestedInEachState) {
  const LenetTraining training(20);
  const auto solver =
      MakeSolver(training.Param(8, "test_interval: 5 test_state { stage: 'a' } test_state {}"));
  EXPECT_EQ(solver->test_nets().size(), 2u);
  EXPECT_EQ(solver->TestAll().size(), 2u);
}

// The policy lowers the rate when windows of 2 and 3 iterations brought no new minimum.
TEST(Progress, PlateauTakesAStepAfterEachWindowWithoutANewMinimum) {
  SolverParameter param;
  param.set_lr_policy("plateau");
  param.add_plateau_winsize(2);
  param.add_plateau_winsize(3);
  SolverState progress;
  const float losses[] = {5, 4, 6, 6, 3, 3, 3, 3, 9, 9};
  const int steps[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
  for (int i = 0; i < 10; ++i) {
    SeeLoss(param, i, losses[i], &progress);
    EXPECT_EQ(progress.current_step(), steps[i]) << "iteration " << i;
  }
  EXPECT_EQ(progress.minimum_loss(), 3);
}

TEST(Progress, StepEarlyCountsTestsWithoutABetterResult) {
  SolverParameter param;
  param.set_lr_policy("stepearly");
  param.set_stepearly(2);
  param.set_stop_early(5);
  SolverState progress;
  const float results[] = {0.5f, 0.6f, 0.6f, 0.5f, 0.6f, 0.1f, 0.6f, 0.7f};
  const int steps[] = {0, 0, 0, 1, 1, 2, 2, 2};
  for (int i = 0; i < 8; ++i) {
    SeeTest(param, {results[i], false}, &progress);
    EXPECT_EQ(progress.current_step(), steps[i]) << "test " << i;
    EXPECT_EQ(HasStalled(param, progress), i == 6) << "test " << i;
  }
}

// promise 45: with a rate of 0 no test is better than the first.
TEST(Progress, TrainingEndsWhenTestsGetNoBetter) {
  const LenetTraining training(20);
  const auto solver =
      MakeSolver(training.Param(4,
                                "base_lr: 0 test_interval: 3 test_iter: 5 stop_early: 2 "
                                "watched_output: 'loss'"));
  solver->Solve();
  EXPECT_EQ(solver->iteration(), 6);
  EXPECT_TRUE(std::filesystem::exists(training / "lenet_iter_6.solverstate"));
}

TEST(Progress, AnUnknownOutputIsNamed) {
  const LenetTraining training(20);
  ExpectParts(
      ErrorOf([&] {
        MakeSolver(training.Param(4, "test_interval: 3 stop_early: 2 watched_output: 'los'"));
      }),
      {"no output \"los\"", "did you mean \"loss\"?"});
  ExpectParts(ErrorOf([&] { MakeSolver(training.Param(4, "stop_early: 2")); }),
              {"there is no test_interval"});
}

}  // namespace
}  // namespace moka
