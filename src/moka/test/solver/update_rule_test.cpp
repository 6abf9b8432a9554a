// The rules that Caffe does not have; those that it has are in solver_golden_test.
#include "moka/solver/update_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "moka/base/strings.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/solver/solver.hpp"
#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

using Weights = std::vector<float>;

/// A weight of 3 numbers with the loss |x w - t|^2 / (2 N).
class SmallSolver {
 public:
  SmallSolver(const std::string& fields, const std::string& device) {
    SolverParameter param, more;
    ReadTextFrom(
        "base_lr: 0.1 lr_policy: 'fixed' max_iter: 10 weight_decay: 0.2 momentum: 0.9 "
        "random_seed: 1 net_param { "
        "layer { name: 'x' type: 'Input' top: 'x' "
        "        input_param { shape { dim: 2 dim: 3 } } } "
        "layer { name: 't' type: 'Input' top: 't' "
        "        input_param { shape { dim: 2 dim: 1 } } } "
        "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' "
        "        inner_product_param { num_output: 1 bias_term: false } } "
        "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 't' } }",
        "solver.prototxt", &param);
    ReadTextFrom(fields, "fields", &more);
    param.MergeFrom(more);
    solver_ = std::make_unique<Solver>(param, std::make_shared<Context>(device, 1));
    Set({1, 2, -1, 0.5f, -1, 3}, &solver_->net().blob("x").data());
    Set({1, -2}, &solver_->net().blob("t").data());
    Set({0.3f, -0.2f, 0.5f}, &weights());
  }

  /// The weights after one more step.
  Weights Step() {
    solver_->Step(1);
    const float* values = weights().Read();
    return Weights(values, values + weights().count());
  }

  Solver& solver() { return *solver_; }
  Tensor& weights() { return solver_->net().learnable_params()[0].blob->data(); }

 private:
  static void Set(const Weights& values, Tensor* tensor) {
    std::copy(values.begin(), values.end(), tensor->Write());
  }

  std::unique_ptr<Solver> solver_;
};

struct RuleCase {
  const char* name;
  const char* fields;
  std::vector<Weights> steps;
};

class UpdateRuleCase : public testing::TestWithParam<std::tuple<RuleCase, const char*>> {};

TEST_P(UpdateRuleCase, TakesTheStepsOfTheReference) {
  const auto& [rule, device] = GetParam();
  SmallSolver solver(rule.fields, device);
  for (const Weights& expected : rule.steps) {
    const Weights actual = solver.Step();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-6f);
  }
}

// From scripts/golden/solver_rules.py.
const RuleCase kCases[] = {
    {"AdamW",
     "type: 'AdamW' momentum2: 0.95 delta: 1e-3",
     {{0.1946116f, -0.0960284f, 0.3900152f},
      {0.0916172f, 0.0054368f, 0.2826447f},
      {-0.0088154f, 0.1040564f, 0.1782123f},
      {-0.1064772f, 0.1993927f, 0.0771359f},
      {-0.2011034f, 0.2908861f, -0.0200510f}}},
    {"Lars",
     "type: 'LARS' larc_eta: 0.5",
     {{0.2990959f, -0.1855141f, 0.4728771f},
      {0.2973802f, -0.1586627f, 0.4225156f},
      {0.2949403f, -0.1219010f, 0.3533711f},
      {0.2918611f, -0.0778172f, 0.2701252f},
      {0.2882239f, -0.0289036f, 0.1772847f}}},
    {"LarcThatScales",
     "larc: true larc_eta: 0.5",
     {{0.2990959f, -0.1855141f, 0.4728771f},
      {0.2973802f, -0.1586627f, 0.4225156f},
      {0.2949403f, -0.1219010f, 0.3533711f},
      {0.2918611f, -0.0778172f, 0.2701252f},
      {0.2882239f, -0.0289036f, 0.1772847f}}},
    {"IntelsNames",
     "local_lr_auto: true local_gw_ratio: 0.5",
     {{0.2990959f, -0.1855141f, 0.4728771f},
      {0.2973802f, -0.1586627f, 0.4225156f},
      {0.2949403f, -0.1219010f, 0.3533711f},
      {0.2918611f, -0.0778172f, 0.2701252f},
      {0.2882239f, -0.0289036f, 0.1772847f}}},
    {"LarcThatClips",
     "larc: true larc_policy: 'clip' larc_eta: 0.4",
     {{0.2927672f, -0.0841130f, 0.2830167f},
      {0.2792841f, 0.0961635f, -0.0593282f},
      {0.2569799f, 0.3072821f, -0.4742181f},
      {0.2045147f, 0.4764946f, -0.8806295f},
      {0.1267021f, 0.4646364f, -1.0244617f}}},
};

INSTANTIATE_TEST_SUITE_P(All, UpdateRuleCase,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values("cpu", "shadow")),
                         [](const auto& info) {
                           return Text(std::get<0>(info.param).name, "_", std::get<1>(info.param));
                         });

// Where w = 0 there is no ratio: the rate is the solver's.
TEST(LayerRate, IsTheSolversRateForWeightsOfZero) {
  SmallSolver layered("type: 'LARS'", "cpu"), plain("", "cpu");
  for (SmallSolver* solver : {&layered, &plain}) solver->weights().SetZero();
  EXPECT_EQ(layered.Step(), plain.Step());
  EXPECT_NE(layered.Step(), plain.Step());
}

TEST(LayerRate, IsForRulesThatDoNotScaleGradients) {
  ExpectParts(ErrorOf([] { SmallSolver("type: 'Adam' larc: true", "cpu"); }),
              {"layer-wise rates", "Adam scales"});
  ExpectParts(ErrorOf([] { SmallSolver("larc: true larc_policy: 'clop'", "cpu"); }),
              {"unknown larc_policy \"clop\""});
}

// h = rate * g + 0.8 * (i / 10) ^ 2 * h.
TEST(MomentumPolicy, RisesToItsMaximum) {
  SmallSolver solver(
      "momentum: 0 momentum_policy: 'poly' max_momentum: 0.8 momentum_power: 2 "
      "weight_decay: 0 base_lr: 0.01",
      "cpu");
  Weights before = {0.3f, -0.2f, 0.5f};
  float history = 0;
  for (int i = 0; i < 4; ++i) {
    const float momentum = 0.8f * static_cast<float>(i * i) / 100;
    const double rows[2] = {before[0] + 2 * before[1] - before[2] - 1,
                            0.5 * before[0] - before[1] + 3 * before[2] + 2};
    const auto gradient = static_cast<float>((rows[0] + 0.5 * rows[1]) / 2);
    history = 0.01f * gradient + momentum * history;
    const Weights after = solver.Step();
    EXPECT_NEAR(after[0], before[0] - history, 1e-6f) << i;
    before = after;
  }
}

}  // namespace
}  // namespace moka
