// promise 1: training that was interrupted ends with the same bits as training that was not.
#include <gtest/gtest.h>

#include <tuple>

#include "moka/base/strings.hpp"
#include "moka/test/solver/lenet.hpp"

namespace moka {
namespace {

// 100 pictures in batches of 8: neither part ends with an epoch or begins with one.
constexpr int kPictures = 100, kBatch = 8, kIterations = 30;

const LenetTraining& Training() {
  static const LenetTraining training(kPictures);
  return training;
}

std::unique_ptr<Solver> MakeSolver(int threads, const std::string& fields) {
  const SolverParameter param = Training().RandomParam(kBatch, "average_loss: 5 " + fields);
  return std::make_unique<Solver>(param, std::make_shared<Context>("cpu", threads));
}

using Values = std::vector<std::vector<float>>;

Values Straight(int threads, const std::string& fields) {
  const auto solver = MakeSolver(threads, fields);
  solver->Step(2 * kIterations);
  return Everything(solver.get());
}

/// Two solvers, of which the second knows nothing but the files of the first.
Values Interrupted(int threads, const std::string& fields) {
  auto solver = MakeSolver(threads, fields);
  solver->Step(kIterations);
  const std::string state = solver->Snapshot();
  solver = MakeSolver(threads, fields);
  solver->Restore(state);
  EXPECT_EQ(solver->iteration(), kIterations);
  solver->Step(kIterations);
  return Everything(solver.get());
}

class Resume : public testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(Resume, GivesTheBitsOfTrainingWithoutInterruption) {
  const auto& [threads, format] = GetParam();
  const std::string fields = Text("snapshot_format: ", format);
  EXPECT_EQ(Interrupted(threads, fields), Straight(threads, fields));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Resume, testing::Combine(testing::Values(1, 2), testing::Values("BINARYPROTO", "HDF5")),
    [](const auto& info) {
      return Text(std::get<1>(info.param), "_", std::get<0>(info.param), "_threads");
    });

// Two tensors of history a param, a rate that depends on the iteration, two batches an iteration.
TEST(ResumeTest, AdamWithSeveralBatchesAnIterationGoesOnToo) {
  const std::string fields =
      "type: 'Adam' base_lr: 0.001 momentum2: 0.999 lr_policy: 'step' stepsize: 25 iter_size: 2";
  EXPECT_EQ(Interrupted(1, fields), Straight(1, fields));
}

struct ResumeCase {
  const char* name;
  const char* fields;
};

class ResumeRule : public testing::TestWithParam<ResumeCase> {};

TEST_P(ResumeRule, GoesOnWhereItStopped) {
  for (const char* format : {"BINARYPROTO", "HDF5"}) {
    const std::string fields = Text(GetParam().fields, " snapshot_format: ", format);
    EXPECT_EQ(Interrupted(1, fields), Straight(1, fields)) << format;
  }
}

// Iteration 30, where training is interrupted, is within a window, a wave, the count of tests.
INSTANTIATE_TEST_SUITE_P(
    All, ResumeRule,
    testing::Values(
        ResumeCase{"AdamW", "type: 'AdamW' base_lr: 0.001"}, ResumeCase{"Lars", "type: 'LARS'"},
        ResumeCase{"Larc", "larc: true larc_policy: 'clip'"},
        ResumeCase{"Cosine", "lr_policy: 'cosine' period: 25 p_mult: 1.5 warmup_iter: 40"},
        ResumeCase{"Plateau",
                   "lr_policy: 'plateau' gamma: 0.5 plateau_winsize: 4 plateau_winsize: 7 "
                   "plateau_winsize: 5 plateau_winsize: 6"},
        ResumeCase{"StepEarly",
                   "lr_policy: 'stepearly' gamma: 0.5 stepearly: 2 test_interval: 4 test_iter: 1"},
        ResumeCase{"Momentum", "momentum_policy: 'poly' max_momentum: 0.95"},
        ResumeCase{"OnePass", "test_interval: 7"}),
    [](const auto& info) { return info.param.name; });

// What the tests above would not see: that the data matter at all.
TEST(ResumeTest, ReadingFromTheFirstRecordAgainEndsElsewhere) {
  auto solver = MakeSolver(1, "");
  solver->Step(kIterations);
  const std::string state = solver->Snapshot();
  solver = MakeSolver(1, "");
  solver->set_data_from_start(true);
  solver->Restore(state);
  solver->Step(kIterations);
  EXPECT_NE(Everything(solver.get()), Straight(1, ""));
}

}  // namespace
}  // namespace moka
