#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "moka/base/error.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/solver/lenet.hpp"

namespace moka {
namespace {

std::unique_ptr<Solver> MakeSolver(const SolverParameter& param, const std::string& device = "cpu",
                                   int threads = 2) {
  return std::make_unique<Solver>(param, std::make_shared<Context>(device, threads));
}

TEST(Training, LearnsWhatTheSquaresMean) {
  const LenetTraining training;
  const auto solver = MakeSolver(training.Param(16, "base_lr: 0.05"));
  solver->Step(1);
  EXPECT_NEAR(solver->last_loss(), std::log(10), 0.5);
  solver->Step(80);
  EXPECT_LT(solver->last_loss(), 0.5);
}

// promise 40
TEST(Training, FourBatchesOfFourAreOneOfSixteen) {
  const LenetTraining training;
  const auto whole = MakeSolver(training.Param(16));
  const auto parts = MakeSolver(training.Param(4, "iter_size: 4"));
  for (int i = 0; i < 10; ++i) {
    whole->Step(1);
    parts->Step(1);
    ASSERT_NEAR(parts->last_loss(), whole->last_loss(), 1e-4f * whole->last_loss());
  }
  const auto expected = Everything(whole.get()), actual = Everything(parts.get());
  for (size_t k = 0; k < expected.size(); ++k) {
    float largest = 0;
    for (float value : expected[k]) largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < expected[k].size(); ++i) {
      ASSERT_NEAR(actual[k][i], expected[k][i], 1e-4f * largest) << k << " " << i;
    }
  }
}

TEST(Training, GivesTheSameBitsOnShadowAsOnCpu) {
  const LenetTraining training;
  const SolverParameter param = training.RandomParam(8);
  // One thread: with more, the cpu alone sums the gradients of convolutions in several parts.
  const auto cpu = MakeSolver(param, "cpu", 1), shadow = MakeSolver(param, "shadow", 1);
  cpu->Step(10);
  shadow->Step(10);
  EXPECT_EQ(Everything(cpu.get()), Everything(shadow.get()));
}

// promise 26
TEST(Training, GivesTheSameBitsWhenRepeated) {
  const LenetTraining training;
  const SolverParameter param = training.RandomParam(8);
  const auto once = MakeSolver(param), again = MakeSolver(param);
  once->Step(10);
  again->Step(10);
  EXPECT_EQ(Everything(once.get()), Everything(again.get()));
}

// promise 6
TEST(Training, StopsAtTheFirstLossThatIsNoNumber) {
  const LenetTraining training(20);
  const auto solver = MakeSolver(training.Param(4, "base_lr: 1e20"));
  ExpectParts(ErrorOf([&] { solver->Step(20); }),
              {"iteration ", "loss is", "first blob", "\"conv", "on_nan"});
  EXPECT_LE(solver->iteration(), 3);
}

TEST(Training, NeverSavesWeightsThatAreNoNumbers) {
  const LenetTraining training(20);
  const auto solver = MakeSolver(training.Param(4));
  solver->Step(1);
  solver->net().learnable_params()[0].blob->data().ReadWrite()[3] = std::nanf("");
  ExpectParts(ErrorOf([&] { solver->Snapshot(); }), {"conv1", "not finite"});
  EXPECT_FALSE(std::filesystem::exists(training / "lenet_iter_1.caffemodel"));
}

TEST(Training, GoesOnWithWhatIsNoNumberWhenAsked) {
  const LenetTraining training(20);
  const auto solver = MakeSolver(training.Param(4, "base_lr: 1e20 on_nan: CONTINUE"));
  solver->Step(8);
  EXPECT_EQ(solver->iteration(), 8);
}

/// Memory of the process that is no mapped file, in bytes.
int64_t OwnMemory() {
  int64_t pages, resident, shared;
  std::ifstream("/proc/self/statm") >> pages >> resident >> shared;
  return (resident - shared) * 4096;
}

// promise 29
TEST(Training, MemoryStaysTheSameOverThousandsOfIterations) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps freed memory";
#endif
  const LenetTraining training(50);
  SolverParameter param;
  ReadTextFrom(R"(base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 display: 0 net_param {
    layer { name: "pictures" type: "Data" top: "data" top: "label"
            transform_param { crop_size: 8 scale: 0.004 }
            data_param { backend: LMDB batch_size: 4 shuffle: true source: ")" +
                   training.database() + R"(" } }
    layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
            inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" } })",
               "solver.prototxt", &param);
  const auto solver = MakeSolver(param);
  solver->Step(500);
  const int64_t before = OwnMemory();
  solver->Step(5000);
  EXPECT_LT(OwnMemory() - before, 512 << 10);
}

}  // namespace
}  // namespace moka
