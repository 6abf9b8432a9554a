#include "moka/solver/detection_test_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/solver/average_precision.hpp"

namespace moka {
namespace {

// By falling score: right, wrong, right, wrong, right; four true boxes. Precisions 1, 1/2, 2/3,
// 1/2, 3/5 at recalls 1/4, 1/4, 1/2, 1/2, 3/4.
const std::vector<JudgedBox> kBoxes = {
    {0.5f, true}, {0.9f, true}, {0.8f, false}, {0.7f, true}, {0.6f, false}};

TEST(AveragePrecision, FollowsItsDefinitions) {
  EXPECT_FLOAT_EQ(AveragePrecision(kBoxes, 4, "Integral"), (1 + 2.0f / 3 + 3.0f / 5) / 4);
  EXPECT_FLOAT_EQ(AveragePrecision(kBoxes, 4, "MaxIntegral"), (1 + 2.0f / 3 + 3.0f / 5) / 4);
  // 1 at recalls 0, 0.1, 0.2; 2/3 at 0.3, 0.4, 0.5; 3/5 at 0.6, 0.7.
  EXPECT_FLOAT_EQ(AveragePrecision(kBoxes, 4, "11point"), (3 + 2 + 1.2f) / 11);
}

TEST(AveragePrecision, RaisesPrecisionsToLaterOnes) {
  const std::vector<JudgedBox> boxes = {{0.9f, false}, {0.8f, true}, {0.7f, true}};
  EXPECT_FLOAT_EQ(AveragePrecision(boxes, 2, "Integral"), (1.0f / 2 + 2.0f / 3) / 2);
  EXPECT_FLOAT_EQ(AveragePrecision(boxes, 2, "MaxIntegral"), 2.0f / 3);
  EXPECT_FLOAT_EQ(AveragePrecision(boxes, 2, "11point"), 2.0f / 3);
}

TEST(AveragePrecision, IsZeroWithoutBoxesOrTruths) {
  for (const char* version : {"Integral", "MaxIntegral", "11point"}) {
    EXPECT_EQ(AveragePrecision({}, 4, version), 0);
    EXPECT_EQ(AveragePrecision(kBoxes, 0, version), 0);
  }
}

TEST(AveragePrecision, OfAnUnknownKindIsRefused) {
  try {
    CheckAveragePrecision("12point");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("12point"), std::string::npos);
  }
}

/// A net whose output are these rows, as if from DetectionEvaluate.
std::unique_ptr<Net> NetOf(const std::vector<float>& rows) {
  NetParameter param;
  const int64_t count = static_cast<int64_t>(rows.size()) / 5;
  ReadTextFrom(
      "layer { name: 'in' type: 'Input' top: 'eval' input_param { shape { dim: 1 dim: 1 dim: " +
          std::to_string(count) + " dim: 5 } } }",
      "net.prototxt", &param);
  NetState state;
  state.set_phase(TEST);
  auto net = std::make_unique<Net>(param, state, std::make_shared<Context>());
  std::copy(rows.begin(), rows.end(), net->blob("eval").data().Write());
  return net;
}

// Class 1 as above in one batch, and with all doubled in two; of class 2 nothing is found.
TEST(DetectionTestPass, AveragesOverClasses) {
  const std::unique_ptr<Net> net = NetOf({-1, 1, 4,    -1, -1,  //
                                          -1, 2, 3,    -1, -1,  //
                                          0,  1, 0.9f, 1,  0,   //
                                          0,  1, 0.8f, 0,  1,   //
                                          0,  1, 0.7f, 1,  0,   //
                                          1,  1, 0.6f, 0,  1,   //
                                          1,  1, 0.5f, 1,  0,   //
                                          1,  1, 0.4f, 0,  0});
  SolverParameter solver;
  solver.set_ap_version("11point");
  const MeanOutput mean = TestDetection(net.get(), 1, solver);
  ASSERT_EQ(mean.values.size(), 1u);
  EXPECT_FLOAT_EQ(mean.values[0], (3 + 2 + 1.2f) / 11 / 2);
}

TEST(DetectionTestPass, NeedsRowsOfFive) {
  SolverParameter solver;
  NetParameter param;
  ReadTextFrom(
      "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }",
      "net.prototxt", &param);
  Net net(param, NetState(), std::make_shared<Context>());
  std::fill_n(net.blob("x").data().Write(), 6, 0.0f);
  try {
    TestDetection(&net, 1, solver);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("output \"x\" of the test net has shape 2 x 3"),
              std::string::npos)
        << error.what();
  }
}

TEST(DetectionTestPass, KnowsTwoKinds) {
  SolverParameter solver;
  CheckEvaluation(solver);
  solver.set_eval_type("detection");
  CheckEvaluation(solver);
  solver.set_eval_type("segmentation");
  EXPECT_THROW(CheckEvaluation(solver), Error);
}

}  // namespace
}  // namespace moka
