// The policies that Caffe does not have; those that it has are in solver_golden_test. Right values
// by the formulas over LearningRate, by hand.
#include "moka/solver/lr_policy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "moka/proto/text_reader.hpp"
#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

SolverParameter Solver(const std::string& fields) {
  SolverParameter param;
  ReadTextFrom(fields, "solver.prototxt", &param);
  CheckLearningRate(param);
  return param;
}

void ExpectRates(const SolverParameter& param, const std::vector<std::pair<int, float>>& rates) {
  for (const auto& [iteration, rate] : rates) {
    EXPECT_NEAR(LearningRate(param, iteration), rate, 1e-6f) << "iteration " << iteration;
  }
}

// promise 45
TEST(LrPolicy, CosineGoesDownToMinLrInOneWave) {
  const SolverParameter param = Solver("lr_policy: 'cosine' base_lr: 0.9 min_lr: 0.1 max_iter: 12");
  ExpectRates(param, {{0, 0.9f},
                      {3, 0.5f + 0.4f * std::sqrt(0.5f)},
                      {4, 0.7f},
                      {6, 0.5f},
                      {8, 0.3f},
                      {12, 0.1f},
                      {20, 0.1f}});
}

TEST(LrPolicy, CosineStartsAgainAfterEachPeriod) {
  const SolverParameter param =
      Solver("lr_policy: 'cosine' base_lr: 1 max_iter: 100 period: 4 p_mult: 2 lr_mult: 0.5");
  ExpectRates(param, {{0, 1}, {2, 0.5f}, {4, 0.5f}, {8, 0.25f}, {12, 0.25f}, {20, 0.125f}});
  ExpectRates(Solver("lr_policy: 'cosine' base_lr: 1 max_iter: 100 period: 4"),
              {{0, 1}, {2, 0.5f}, {4, 1}, {42, 0.5f}, {44, 1}});
}

TEST(LrPolicy, SgdrDoublesItsPeriods) {
  ExpectRates(Solver("lr_policy: 'sgdr' base_lr: 1 max_iter: 100 period: 10"),
              {{0, 1}, {5, 0.5f}, {10, 0.8f}, {20, 0.4f}, {30, 0.64f}});
}

TEST(LrPolicy, MultifixedTakesTheRateOfItsStage) {
  ExpectRates(Solver("lr_policy: 'multifixed' stagelr: 0.001 stagelr: 0.01 stagelr: 0.002 "
                     "stageiter: 5 stageiter: 20 stageiter: 30"),
              {{0, 0.001f}, {4, 0.001f}, {5, 0.01f}, {19, 0.01f}, {20, 0.002f}, {99, 0.002f}});
}

// promise 45
TEST(LrPolicy, WarmUpLeadsToAnyPolicy) {
  for (const char* names :
       {"warmup_iter: 4 warmup_start_lr: 0.2", "rampup_interval: 4 rampup_lr: 0.2"}) {
    ExpectRates(Solver(std::string("lr_policy: 'poly' power: 1 base_lr: 1 max_iter: 10 ") + names),
                {{0, 0.2f}, {1, 0.4f}, {3, 0.8f}, {4, 0.6f}, {9, 0.1f}});
  }
  ExpectRates(Solver("lr_policy: 'multifixed' stagelr: 0.5 stageiter: 9 warmup_iter: 2"),
              {{0, 0}, {1, 0.25f}, {2, 0.5f}});
}

TEST(LrPolicy, NoPolicyFallsBelowMinLr) {
  ExpectRates(Solver("lr_policy: 'step' gamma: 0.1 stepsize: 2 base_lr: 1 min_lr: 0.05"),
              {{1, 1}, {2, 0.1f}, {4, 0.05f}, {9, 0.05f}});
}

TEST(LrPolicy, StepsOfThoseThatWatchTheTrainingAreGiven) {
  const SolverParameter param =
      Solver("lr_policy: 'plateau' gamma: 0.5 base_lr: 1 plateau_winsize: 3");
  EXPECT_EQ(LearningRate(param, 100, 0), 1);
  EXPECT_EQ(LearningRate(param, 1, 3), 0.125f);
}

TEST(LrPolicy, MistakesAreNamedWithTheirPlaces) {
  const auto message = [](const std::string& fields) {
    return ErrorOf([&] { Solver("base_lr: 1 max_iter: 9 gamma: 1\n" + fields); });
  };
  ExpectParts(message("lr_policy: 'cosin'"), {"solver.prototxt:2:1: ", "did you mean \"cosine\"?"});
  ExpectParts(message("lr_policy: 'plateau'"), {"solver.prototxt:2:1: ", "needs plateau_winsize"});
  ExpectParts(message("lr_policy: 'fixed'\nmin_lr: -1"), {"solver.prototxt:3:1: min_lr is -1"});
  ExpectParts(message("lr_policy: 'cosine'\np_mult: 0.5"), {"solver.prototxt:3:1: p_mult is 0.5"});
  ExpectParts(message("lr_policy: 'multifixed' stagelr: 1 stageiter: 4 stageiter: 5"),
              {"solver.prototxt:2:25: there are 1 stagelr, but 2 stageiter"});
  ExpectParts(message("lr_policy: 'fixed' warmup_iter: 3\nrampup_interval: 2"),
              {"solver.prototxt:3:1: ", "two names"});
  ExpectParts(message("lr_policy: 'fixed'\nwarmup_iter: -3"),
              {"solver.prototxt:3:1: warmup_iter is -3"});
  ExpectParts(message("lr_policy: 'fixed' rampup_interval: 3\nrampup_lr: -1"),
              {"solver.prototxt:3:1: rampup_lr is -1"});
  ExpectParts(message("lr_policy: 'fixed'\nmomentum_policy: 'polly'"),
              {"solver.prototxt:3:1: unknown momentum_policy \"polly\""});
  ExpectParts(message("lr_policy: 'fixed' type: 'Adam'\nmomentum_policy: 'opt'"),
              {"solver.prototxt:3:1: only SGD"});
}

TEST(MomentumPolicy, OptFollowsTheRate) {
  const SolverParameter param = Solver("lr_policy: 'fixed' base_lr: 0.04 momentum_policy: 'opt'");
  EXPECT_NEAR(Momentum(param, 0, 0.04f), 0.81f, 1e-6f);
  EXPECT_NEAR(Momentum(param, 0, 0.36f), 0.49f, 1e-6f);
  EXPECT_NEAR(Momentum(Solver("lr_policy: 'fixed' base_lr: 1 momentum_policy: 'opt' "
                              "max_momentum: 0.6"),
                       0, 0.04f),
              0.6f, 1e-6f);
}

}  // namespace
}  // namespace moka
