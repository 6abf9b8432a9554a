#include <cmath>

#include "moka/base/strings.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

constexpr char kByLabel[] = "type: 'CtcLoss' bottom: 'x' bottom: 'label' top: 'loss' ";
constexpr char kByIndicator[] =
    "type: 'CTCLoss' bottom: 'x' bottom: 'cont' bottom: 'label' top: 'loss' ";

/// Scores sin(i), and the values of the last one or two bottoms.
std::function<float(int, int64_t)> Values(const std::vector<float>& second,
                                          const std::vector<float>& third = {}) {
  return [=](int bottom, int64_t j) {
    if (bottom == 0) return static_cast<float>(std::sin(static_cast<double>(j)));
    return (bottom == 1 ? second : third).at(j);
  };
}

/// A net of the layer on scores of 6 x 2 x 4: its loss, and the gradient of the scores.
RunResult RunLayer(const LayerCase& layer_case) {
  NetParameter param;
  param.set_force_backward(true);
  NamedArrays given;
  const LayerParameter layer = LayerOf(layer_case.layer);
  for (int i = 0; i < layer.bottom_size(); ++i) {
    LayerParameter* input = param.add_layer();
    *input = LayerOf("type: 'Input'");
    input->add_top(layer.bottom(i));
    FloatArray array{layer_case.shapes[i].dims(), {}};
    for (int64_t j = 0; j < layer_case.shapes[i].Count(); ++j) {
      array.data.push_back(layer_case.value(i, j));
    }
    BlobShape* shape = input->mutable_input_param()->add_shape();
    for (int64_t dim : array.shape) shape->add_dim(dim);
    given["input/" + layer.bottom(i)] = array;
  }
  *param.add_layer() = layer;
  Net net(param, NetState(), std::make_shared<Context>("cpu", 1));
  RunOptions options;
  options.backward = true;
  return RunNet(&net, given, options);
}

void ExpectGradient(const RunResult& result, const std::vector<float>& expected) {
  const std::vector<float>& actual = result.arrays.at("input_diff/x").data;
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-6f) << i;
}

// Losses and gradients of scripts/golden/ctc_loss.py.
TEST(CTCLoss, EqualsPyTorchWithTheBlankFirstAndARepeatedClass) {
  const RunResult result =
      RunLayer({kByLabel, {{6, 2, 4}, {2, 4}}, TRAIN, Values({1, 2, 0, 2, -1, 3, 0, 0})});
  EXPECT_NEAR(result.loss, 5.9838105, 1e-6);
  ExpectGradient(
      result,
      {0.01417457f,  -0.2754762f,  0.1785021f,  0.08279958f,    -0.167957f,   0.05417485f,
       0.106882f,    0.006900173f, 0.09611784f, -0.0002746427f, -0.1315752f,  0.03573197f,
       -0.1611853f,  0.1133288f,   0.2004838f,  -0.1526273f,    -0.1433636f,  0.03055998f,
       -0.09720767f, 0.2100112f,   -0.1086413f, 0.1855664f,     0.07967101f,  -0.1565961f,
       -0.08890174f, 0.07268361f,  -0.199688f,  0.2159061f,     -0.04549959f, 0.08984063f,
       0.06495142f,  -0.1092925f,  -0.1861257f, 0.1997727f,     -0.06154557f, 0.04789857f,
       -0.147832f,   0.05402391f,  0.1382873f,  -0.04447919f,   0.05132921f,  0.1124213f,
       -0.2210964f,  0.05734588f,  -0.2538772f, 0.1683471f,     0.1771351f,   -0.09160495f});
}

TEST(CTCLoss, EqualsPyTorchWithTheBlankLastAndSequencesOfOtherLengths) {
  const std::vector<float> cont{0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0}, labels{0, 2, 1, 2, -1, -1};
  const RunResult result =
      RunLayer({kByIndicator, {{6, 2, 4}, {6, 2}, {3, 2}}, TRAIN, Values(cont, labels)});
  EXPECT_NEAR(result.loss, 4.6919599, 1e-6);
  ExpectGradient(result, {-0.1648248f,
                          0.1667964f,
                          0.1785021f,
                          -0.1804737f,
                          0.06630985f,
                          0.05417485f,
                          -0.24907f,
                          0.1285853f,
                          -0.1908435f,
                          0.1371199f,
                          0.05637438f,
                          -0.002650762f,
                          0.04353449f,
                          0.1133288f,
                          -3.614896e-05f,
                          -0.1568271f,
                          -0.0614858f,
                          0.0379259f,
                          0.08531042f,
                          -0.06175052f,
                          0.2002772f,
                          0.1855664f,
                          -0.1796268f,
                          -0.2062168f,
                          0.003270491f,
                          -0.05563655f,
                          0.1778652f,
                          -0.1254992f,
                          0.228738f,
                          0.08984063f,
                          -0.2685831f,
                          -0.04999552f,
                          0.1144997f,
                          -0.2205685f,
                          0.1247549f,
                          -0.0186861f,
                          0,
                          0,
                          0,
                          0,
                          0.2775466f,
                          -0.2268984f,
                          0.05268623f,
                          -0.1033344f,
                          0,
                          0,
                          0,
                          0});
}

// Many sequences for several threads, one step, no label, a path longer than all labels.
TEST(CTCLoss, MatchesFiniteDifferences) {
  const auto labels = [](int classes) {
    return [=](int bottom, int64_t j) {
      return bottom == 1 ? static_cast<float>((j * 7 + 3) % classes)
                         : static_cast<float>(2 * std::sin(static_cast<double>(3 * j)));
    };
  };
  const std::string sum = std::string(kByLabel) + "loss_weight: 2 ";
  for (const auto& [steps, sequences] : {std::make_pair<int64_t, int64_t>(9, 40), {5, 1}}) {
    CheckLayer({sum, {{steps, sequences, 6}, {sequences, 3}}, TRAIN, labels(6)});
  }
  CheckLayer({sum, {{1, 2, 3}, {2, 1}}, TRAIN, Values({2, 0})});
  CheckLayer({sum + "ctc_loss_param { blank_index: -1 time_step: 4 alphabet_size: 5 }",
              {{7, 3, 5}, {3, 2}},
              TRAIN,
              labels(5)});
  CheckLayer({kByIndicator, {{4, 2, 3}, {4, 2}, {2, 2}}, TRAIN, [&](int bottom, int64_t j) {
                if (bottom == 1) return j < 2 || j == 7 ? 0.0f : 1.0f;
                return bottom == 2 ? static_cast<float>(j % 2) : labels(3)(bottom, j);
              }});
}

// By hand: of 2 steps with uniform scores of 3 classes, 3 of 9 paths read "1": 1 1, 1 0, 0 1.
TEST(CTCLoss, OfUniformScoresCountsPaths) {
  const auto uniform = [](int bottom, int64_t) { return bottom == 0 ? 0.5f : 1.0f; };
  EXPECT_NEAR(Output({kByLabel, {{2, 1, 3}, {1, 1}}, TRAIN, uniform})[0], std::log(3.0), 1e-6);
}

TEST(CTCLoss, IsZeroForALabelThatDoesNotFitIntoTheSteps) {
  // "2 2" needs a blank between: 3 steps.
  const RunResult result = RunLayer({kByLabel, {{2, 2, 4}, {2, 2}}, TRAIN, Values({2, 2, 1, 0})});
  const double other = RunLayer({kByLabel, {{2, 2, 4}, {2, 2}}, TRAIN, Values({1, 0, 1, 0})}).loss;
  EXPECT_GT(result.loss, 0);
  EXPECT_LT(result.loss, other);
  const std::vector<float>& gradient = result.arrays.at("input_diff/x").data;
  for (int i : {0, 1, 2, 3, 8, 9, 10, 11}) EXPECT_EQ(gradient[i], 0);
  for (int i : {4, 5, 6, 7}) EXPECT_NE(gradient[i], 0);
}

// promise 2
TEST(CTCLoss, ExplainsMistakes) {
  const Shape scores{6, 2, 4};
  ExpectError({kByLabel, {scores, {2, 3}}, TRAIN, Values({1, 2, 0, 1, 4, 0})},
              {"label 4", "sequence 1", "position 1", "4 classes"});
  ExpectError({kByLabel, {scores, {3, 2}}}, {"labels", "3 x 2", "2 sequences"});
  ExpectError({kByLabel, {{6, 2}, {2, 3}}}, {"6 x 2", "steps x sequences x classes"});
  ExpectError({kByIndicator, {scores, {2, 6}, {3, 2}}}, {"indicators", "2 x 6", "6 x 2"});
  const std::string layer = kByLabel;
  ExpectError({layer + "ctc_loss_param { alphabet_size: 5 }", {scores, {2, 3}}},
              {"alphabet_size is 5", "4 classes"});
  ExpectError({layer + "ctc_loss_param { time_step: 7 }", {scores, {2, 3}}},
              {"time_step is 7", "6 steps"});
  ExpectError({layer + "ctc_loss_param { blank_label: 4 }", {scores, {2, 3}}},
              {"blank is class 4", "4 classes"});
}

/// Scores whose best path is `path`, of 4 classes.
std::function<float(int, int64_t)> BestPath(const std::vector<int>& path,
                                            const std::vector<float>& labels) {
  return [=](int bottom, int64_t j) {
    if (bottom == 1) return labels[j % labels.size()];
    return path[j / 4 % path.size()] == j % 4 ? 1.0f : 0.0f;
  };
}

TEST(LabelsequenceAccuracy, CountsSequencesThatAreReadRight) {
  const std::string layer =
      "type: 'LabelsequenceAccuracy' bottom: 'x' bottom: 'label' top: 'share' "
      "labelsequence_accuracy_param { blank_label: 3 }";
  const auto share = [&](const std::vector<int>& path, const std::vector<float>& labels) {
    const auto sequences = static_cast<int64_t>(path.size() / 5);
    const int64_t size = static_cast<int64_t>(labels.size()) / sequences;
    LayerCase layer_case{layer, {{sequences, 5, 4}, {sequences, size}}, TEST};
    layer_case.value = BestPath(path, labels);
    layer_case.gradients = false;
    CheckLayer(layer_case);
    return Output(layer_case)[0];
  };
  EXPECT_EQ(share({3, 1, 1, 3, 2}, {1, 2, 3}), 1);  // repeats once
  EXPECT_EQ(share({1, 3, 1, 0, 0}, {1, 1, 0}), 1);  // a blank parts equals
  EXPECT_EQ(share({1, 1, 1, 0, 0}, {1, 1, 0}), 0);
  EXPECT_EQ(share({1, 2, 0, 3, 3}, {1, 2}), 0);     // too many
  EXPECT_EQ(share({1, 2, 3, 3, 3}, {1, 2, 0}), 0);  // too few
  EXPECT_EQ(share({3, 3, 3, 3, 3}, {-1, 3}), 1);    // nothing to read
  EXPECT_EQ(share({0, 3, 3, 3, 3, 1, 3, 3, 3, 3, 2, 3, 3, 3, 3, 2, 3, 3, 3, 3}, {0, 1, 2, 1}),
            0.75f);
}

TEST(LabelsequenceAccuracy, ExplainsMistakes) {
  const std::string layer = "type: 'LabelsequenceAccuracy' bottom: 'x' bottom: 'l' top: 'share'";
  LayerCase layer_case{layer, {{6, 2, 4}, {2, 3}}};
  layer_case.gradients = false;
  ExpectError(layer_case, {"labels", "2 x 3", "6 sequences"});
  layer_case.shapes = {{6, 8}, {6, 3}};
  ExpectError(layer_case, {"6 x 8", "sequences x steps x classes"});
}

TEST(Reverse, TurnsAnAxisAround) {
  const auto count = [](int, int64_t j) { return static_cast<float>(j); };
  const std::string layer = "type: 'Reverse' bottom: 'x' top: 'y' ";
  const LayerCase first{layer, {{2, 1, 2}}, TRAIN, count};
  EXPECT_EQ(Output(first), (std::vector<float>{2, 3, 0, 1}));
  const LayerCase last{layer + "reverse_param { axis: -1 }", {{2, 3}}, TRAIN, count};
  EXPECT_EQ(Output(last), (std::vector<float>{2, 1, 0, 5, 4, 3}));
  CheckLayer({layer + "reverse_param { axis: 1 }", {{3, 4, 5}}});
  CheckLayer({layer, {{7, 3, 500}}});
  ExpectError({layer + "reverse_param { axis: 2 }", {{2, 3}}}, {"axis 2", "2 axes"});
}

TEST(ContinuationIndicator, IsZeroAtTheFirstStep) {
  const std::string layer = "type: 'ContinuationIndicator' top: 'cont' ";
  EXPECT_EQ(Output({layer + "continuation_indicator_param { time_step: 2 batch_size: 3 }", {}}),
            (std::vector<float>{0, 0, 0, 1, 1, 1}));
  LayerCase sized{layer + "bottom: 'x' continuation_indicator_param { time_step: 2 }", {{4, 2, 5}}};
  sized.gradients = false;
  EXPECT_EQ(Output(sized), (std::vector<float>{0, 0, 1, 1}));
  CheckLayer(sized);
  LayerCase free{layer, {}};
  free.gradients = false;
  ExpectError(free, {"time_step", "must be given"});
}

}  // namespace
}  // namespace moka
