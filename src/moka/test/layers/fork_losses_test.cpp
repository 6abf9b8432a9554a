#include <gtest/gtest.h>

#include <cmath>

#include "moka/net/run_net.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

// Values named "torch" are printed by scripts/golden/losses.py, which has the same inputs.

float Step(float step, int64_t j) { return step * static_cast<float>(j * 7 % 11 - 5); }

/// Scores from the formula and labels for bottom 1.
std::function<float(int bottom, int64_t j)> ScoresAndLabels(int classes) {
  return [=](int bottom, int64_t j) {
    return bottom == 1 ? static_cast<float>((j * 7 + 3) % classes) : Step(0.3f, j);
  };
}

std::string Loss(const std::string& type, int bottoms, const std::string& fields) {
  std::string layer = type + " name: 'loss' top: 'loss' " + fields;
  for (int i = 0; i < bottoms; ++i) layer += " bottom: 'b" + std::to_string(i) + "'";
  return layer;
}

/// The layer's value is `torch`, its gradients fit, and devices agree.
void CheckValue(const LayerCase& layer_case, float torch) {
  SCOPED_TRACE(layer_case.layer);
  EXPECT_NEAR(Output(layer_case)[0], torch, 2e-6f * std::max(1.0f, torch));
  CheckLayer(layer_case);
}

const char kWeights[] =
    "class_weight: 0.5 class_weight: 2 class_weight: 1 class_weight: 0.25 "
    "class_weight: 3 ";

LayerCase Softmax(const std::string& loss_param) {
  return {Loss("type: 'SoftmaxWithLoss'", 2, "loss_param { " + loss_param + " }"),
          {Shape{4, 5}, Shape{4}},
          TRAIN,
          ScoresAndLabels(5)};
}

// promise 41
TEST(SoftmaxWithLossLayer, WeighsClassesAndSmoothsLabels) {
  CheckValue(Softmax(kWeights), 3.05728053f);
  CheckValue(Softmax("label_smoothing: 0.1"), 2.01639195f);
  CheckValue(Softmax(kWeights + std::string("label_smoothing: 0.1")), 3.00723539f);
  CheckValue({Loss("type: 'SoftmaxWithLoss'", 2,
                   "loss_param { class_weight: 0.5 class_weight: 2 class_weight: 1 "
                   "label_smoothing: 0.2 ignore_label: 1 }"),
              {Shape{2, 3, 4}, Shape{2, 4}},
              TRAIN,
              ScoresAndLabels(3)},
             1.11834558f);
}

TEST(SoftmaxWithLossLayer, TakesSegNetsClassWeighting) {
  std::string segnets = kWeights;
  for (size_t at; (at = segnets.find("weight: ")) != std::string::npos;) {
    segnets.replace(at, 8, "weighting:");
  }
  EXPECT_EQ(Output(Softmax(segnets + "weight_by_label_freqs: true")), Output(Softmax(kWeights)));
  EXPECT_EQ(Output(Softmax(segnets + "weight_by_label_freqs: false")), Output(Softmax("")));
  ExpectError(Softmax(segnets), {"case:1:", "class_weighting", "weight_by_label_freqs: true"});
  ExpectError(Softmax("weight_by_label_freqs: true"), {"class_weighting", "each class"});
  ExpectError(Softmax(segnets + "class_weight: 1"), {"second time"});
}

TEST(SoftmaxWithLossLayer, RefusesWrongWeights) {
  ExpectError(Softmax("class_weight: 1 class_weight: 2"), {"2 weight(s) for 5 classes"});
  ExpectError(Softmax("class_weight: 1 class_weight: -2"), {"-2", "less than 0"});
  ExpectError(Softmax("label_smoothing: 1.5"), {"1.5", "from 0 to 1"});
}

TEST(LossLayers, RefuseClassWeightsThatTheyDoNotHave) {
  for (const char* fields : {"class_weight: 1", "label_smoothing: 0.1",
                             "weight_by_label_freqs: true class_weighting: 1"}) {
    ExpectError({Loss("type: 'HingeLoss'", 2, Text("loss_param { ", fields, " }")),
                 {Shape{4, 5}, Shape{4}},
                 TRAIN,
                 Labels(1, 5)},
                {"loss", "HingeLoss has no", "SoftmaxWithLoss has"});
  }
}

TEST(FocalLossLayer, OfSoftmax) {
  const auto focal = [](const std::string& type, const std::string& fields) {
    return LayerCase{Loss(type, 2, fields), {Shape{4, 5}, Shape{4}}, TRAIN, ScoresAndLabels(5)};
  };
  CheckValue(focal("type: 'FocalLoss'", ""), 0.398218048f);
  CheckValue(focal("type: 'SoftmaxFocalLoss'",
                   "focal_loss_param { gamma: 0.5 alpha: 0.5 alpha: 2 alpha: 1 "
                   "alpha: 0.25 alpha: 3 }"),
             2.93483192f);
  CheckLayer({Loss("type: 'FocalLoss'", 2, "loss_weight: 2 loss_param { ignore_label: 1 }"),
              {Shape{2, 4, 3, 5}, Shape{2, 3, 5}},
              TRAIN,
              Labels(1, 4)});
  ExpectError(focal("type: 'FocalLoss'", "focal_loss_param { alpha: 1 alpha: 2 }"),
              {"2 weight(s) for 5 classes"});
  ExpectError(focal("type: 'FocalLoss'", "focal_loss_param { gamma: -1 }"), {"gamma is -1"});
  ExpectError(focal("type: 'FocalLoss'", "focal_loss_param { type: LINEAR }"),
              {"SigmoidFocalLoss"});
}

// Without focus and with alpha 1 it is cross entropy, however sure the net is.
TEST(FocalLossLayer, WithGamma0IsCrossEntropy) {
  for (float size : {1.0f, 30.0f}) {
    LayerCase focal{Loss("type: 'FocalLoss'", 2, "focal_loss_param { gamma: 0 alpha: 1 }"),
                    {Shape{4, 5}, Shape{4}},
                    TRAIN,
                    [=](int bottom, int64_t j) {
                      return bottom == 0 ? size * Step(1, j) : static_cast<float>(j % 5);
                    }};
    LayerCase plain = focal;
    plain.layer = Loss("type: 'SoftmaxWithLoss'", 2, "");
    EXPECT_FLOAT_EQ(Output(focal)[0], Output(plain)[0]);
  }
}

TEST(SigmoidFocalLossLayer, InBothForms) {
  const auto value = [](int bottom, int64_t j) {
    return bottom == 1 ? static_cast<float>(j % 2) : Step(0.3f, j);
  };
  const auto focal = [&](const std::string& fields) {
    return LayerCase{
        Loss("type: 'SigmoidFocalLoss'", 2, fields), {Shape{3, 4}, Shape{3, 4}}, TRAIN, value};
  };
  CheckValue(focal(""), 0.499582161f);
  CheckValue(focal("focal_loss_param { type: LINEAR gamma: 3 beta: 0.5 alpha: 0.4 }"),
             0.601502925f);
  CheckLayer(focal("loss_param { ignore_label: 0 normalization: VALID }"));
  ExpectError(focal("focal_loss_param { type: LINEAR gamma: 0 }"), {"gamma is 0", "positive"});
  ExpectError(focal("focal_loss_param { alpha: 1 alpha: 2 }"), {"one alpha", "2"});
  ExpectError({Loss("type: 'SigmoidFocalLoss'", 2, ""), {Shape{4, 5}, Shape{4, 6}}},
              {"4 x 5", "4 x 6"});
}

TEST(DiceLossLayer, OfMasks) {
  const auto value = [](int bottom, int64_t j) {
    const float size = std::fabs(Step(bottom == 0 ? 0.1f : 0.15f, j));
    return bottom == 0 ? size : std::round(size);
  };
  const auto dice = [&](const std::string& type, const std::string& fields) {
    return LayerCase{Loss(type, 2, "dice_loss_param { " + fields + " }"),
                     {Shape{2, 6}, Shape{2, 2, 3}},
                     TRAIN,
                     value};
  };
  CheckValue(dice("type: 'DiceLoss'", "smooth: 0.5"), 0.235215601f);
  CheckValue(dice("type: 'DiceCoefLoss'", "smooth: 0.5 squared: false"), 0.411225403f);
  ExpectError(dice("type: 'DiceLoss'", "smooth: 0"), {"smooth is 0"});
  ExpectError({Loss("type: 'DiceLoss'", 2, ""), {Shape{4, 5}, Shape{4, 6}}}, {"4 x 5", "4 x 6"});
}

const char kCenter[] = "center_loss_param { num_output: 3 center_filler { value: 0.5 } } ";

float FeaturesAndClasses(int bottom, int64_t j) {
  return bottom == 0 ? Step(0.3f, j) : j == 1 ? 0.0f : 1.0f;
}

TEST(CenterLossLayer, HasTheValueAndGradientsOfItsFormula) {
  const std::vector<Shape> shapes{Shape{4, 3}, Shape{4}};
  LayerCase by_formula{Loss("type: 'CenterLoss'", 2, kCenter), shapes, TRAIN, FeaturesAndClasses};
  by_formula.param_gradients = false;  // the centres' own rule is no derivative of the loss
  CheckValue(by_formula, 2.08125f);
  LayerCase on_last_axis{Loss("type: 'CenterLoss'", 2,
                              "loss_weight: 0.5 center_loss_param { num_output: 3 axis: -1 "
                              "center_filler { type: 'uniform' } }"),
                         {Shape{2, 5, 4}, Shape{2, 5}},
                         TRAIN,
                         Labels(1, 3)};
  on_last_axis.param_gradients = false;
  CheckLayer(on_last_axis);
  ExpectError({Loss("type: 'CenterLoss'", 2, ""), shapes}, {"num_output"});
  ExpectError({Loss("type: 'CenterLoss'", 2, "center_loss_param { num_output: 1 }"), shapes, TRAIN,
               FeaturesAndClasses, false},
              {"label 1", "sample 0"});
}

TEST(CenterLossLayer, MovesEachCentreByItsOwnRule) {
  const std::vector<float> torch{-0.5f, 0.1f, 0.7f, 0.225f, 0.3f, 1.2f, 0, 0, 0};
  for (const char* device : {"cpu", "shadow"}) {
    NetParameter param;
    for (const char* input : {"b0", "b1"}) {
      *param.add_layer() =
          LayerOf(Text("type: 'Input' name: '", input, "' top: '", input,
                       "' input_param { shape { dim: 4 ", input[1] == '0' ? "dim: 3" : "", " } }"));
    }
    *param.add_layer() =
        LayerOf(Loss("type: 'CenterLoss'", 2, std::string(kCenter) + "loss_weight: 0.1"));
    Net net(param, NetState(), std::make_shared<Context>(device, 2));
    NamedArrays given{{"input/b0", {{4, 3}, {}}}, {"input/b1", {{4}, {}}}};
    for (int64_t j = 0; j < 12; ++j) {
      given["input/b0"].data.push_back(FeaturesAndClasses(0, j));
      if (j < 4) given["input/b1"].data.push_back(FeaturesAndClasses(1, j));
    }
    RunOptions options;
    options.backward = true;
    const RunResult result = RunNet(&net, given, options);
    const std::vector<float>& gradient = result.arrays.at("param_diff/loss/0").data;
    ASSERT_EQ(gradient.size(), torch.size());
    for (size_t i = 0; i < torch.size(); ++i) EXPECT_NEAR(gradient[i], torch[i], 1e-6f) << device;
  }
}

/// Rows of three arrays one after the other; weights 2 and 0.5.
float Triplets(int bottom, int64_t j) {
  return bottom == 3 ? (j == 0 ? 2.0f : 0.5f) : Step(0.3f, j + 8 * bottom);
}

TEST(TripletLossLayer, OfThreeBottoms) {
  const std::vector<Shape> shapes{Shape{2, 4}, Shape{2, 4}, Shape{2, 4}, Shape{2}};
  const auto triplet = [&](int bottoms, const std::string& fields) {
    return LayerCase{Loss("type: 'TripletLoss'", bottoms, "triplet_loss_param { " + fields + " }"),
                     {shapes.begin(), shapes.begin() + bottoms},
                     TRAIN,
                     Triplets};
  };
  CheckValue(triplet(3, "margin: 1.5"), 0.6f);
  LayerCase weighed = triplet(4, "margin: 1.5");
  EXPECT_FLOAT_EQ(Output(weighed)[0], 1.2f);
  weighed.gradients = false;  // the weights have none
  CheckLayer(weighed);
  CheckLayer(triplet(3, "margin: 4 losstype: 1"));
  ExpectError(triplet(3, "num_triplets: 3"), {"num_triplets is 3", "sets"});
  ExpectError(triplet(3, "losstype: 2"), {"losstype is 2"});
  ExpectError(triplet(3, "losstype: 1 margin: 0"), {"margin is 0"});
  ExpectError({Loss("type: 'TripletLoss'", 3, ""), {Shape{2, 4}, Shape{2, 4}, Shape{3, 4}}},
              {"2 x 4", "3 x 4"});
}

TEST(TripletLossLayer, OfSets) {
  const auto sets = [](const std::string& fields) {
    LayerCase layer_case{Loss("type: 'TripletLoss'", 2,
                              "triplet_loss_param { num_triplets: 2 margin: 4 " + fields + " }"),
                         {Shape{8, 3}, Shape{8}},
                         TRAIN,
                         [](int, int64_t j) { return Step(0.3f, j); }};
    layer_case.reshapes = false;  // sets are of four
    return layer_case;
  };
  CheckValue(sets(""), 2.86507691f);
  CheckValue(sets("losstype: 0"), 6.3625f);
  ExpectError({Loss("type: 'TripletLoss'", 2, ""), {Shape{8, 3}, Shape{8}}},
              {"sets of 3", "8 x 3"});
}

}  // namespace
}  // namespace moka
