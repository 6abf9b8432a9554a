#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(act, Dropout, "dropout_");

TEST(DropoutLayer, KeepsAShareOfValuesAndScalesThem) {
  const std::vector<float> y =
      Output({"type: 'Dropout' bottom: 'a' top: 'b' dropout_param { dropout_ratio: 0.2 }",
              {Shape{100, 100}},
              TRAIN,
              [](int, int64_t) { return 1.0f; }});
  int kept = 0;
  for (float value : y) {
    if (value == 0) continue;
    ASSERT_FLOAT_EQ(value, 1.25f);
    ++kept;
  }
  EXPECT_NEAR(kept / 10000.0, 0.8, 0.02);
}

TEST(DropoutLayer, IsTheSameOnAllDevicesAndInPlace) {
  CheckLayer({"type: 'Dropout' bottom: 'a' top: 'b'", {Shape{3, 5, 1000}}, TRAIN, nullptr, false});
  CheckLayer({"type: 'Dropout' bottom: 'a' top: 'b'", {Shape{3, 5}}, TEST});
}

TEST(DropoutLayer, DrawsAnewInEachPassAndBackwardTakesTheMaskOfForward) {
  NetParameter param;
  *param.add_layer() =
      LayerOf("name: 'in' type: 'Input' top: 'a' input_param { shape { dim: 64 } }");
  *param.add_layer() = LayerOf("name: 'drop' type: 'Dropout' bottom: 'a' top: 'b'");
  param.set_force_backward(true);
  NetState state;
  state.set_phase(TRAIN);
  Net net(param, state, std::make_shared<Context>("cpu", 1));
  const NamedArrays given{{"input/a", {{64}, std::vector<float>(64, 1.0f)}},
                          {"top_diff/b", {{64}, std::vector<float>(64, 1.0f)}}};
  RunOptions options;
  options.backward = true;
  const RunResult first = RunNet(&net, given, options), second = RunNet(&net, given, options);
  EXPECT_EQ(first.arrays.at("output/b").data, first.arrays.at("input_diff/a").data);
  EXPECT_EQ(second.arrays.at("output/b").data, second.arrays.at("input_diff/a").data);
  EXPECT_NE(first.arrays.at("output/b").data, second.arrays.at("output/b").data);
}

TEST(DropoutLayer, RefusesARatioOfOne) {
  ExpectError(
      {"type: 'Dropout' bottom: 'a' top: 'b' dropout_param { dropout_ratio: 1 }", {Shape{3}}},
      {"dropout_ratio 1"});
}

}  // namespace
}  // namespace moka
