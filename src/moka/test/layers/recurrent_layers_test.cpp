#include <cmath>

#include "moka/base/philox.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(recurrent, Recurrent, "");

/// cont of N sequences as bottom 1: all begin at step 0, and some begin anew later.
std::function<float(int, int64_t)> Breaks(int64_t sequences) {
  return [=](int bottom, int64_t j) {
    const float u = Philox::For(5, bottom).Uniform(0, j);
    if (bottom != 1) return 2 * u - 1;
    return j < sequences || u < 0.2f ? 0.0f : 1.0f;
  };
}

std::string Recurrent(const std::string& type, int outputs, const std::string& bottoms) {
  return Text("type: '", type, "' ", bottoms, " top: 'h' recurrent_param { num_output: ", outputs,
              " weight_filler { type: 'uniform' min: -0.5 max: 0.5 }",
              " bias_filler { type: 'uniform' min: -0.3 max: 0.3 } }");
}

void CheckRecurrent(const std::string& type, int outputs, const Shape& x) {
  const Shape cont{x[0], x[1]};
  const auto value = Breaks(x[1]);
  CheckLayer({Recurrent(type, outputs, "bottom: 'x' bottom: 'cont'"), {x, cont}, TRAIN, value});
  CheckLayer({Recurrent(type, outputs, "bottom: 'x' bottom: 'cont' bottom: 'fixed'"),
              {x, cont, {x[1], 2, 2}},
              TRAIN,
              value});
}

// One step, one sequence, one unit; units around the width of vectors; axes behind; several
// threads.
TEST(RecurrentLayers, MatchFiniteDifferences) {
  for (const char* type : {"LSTM", "RNN"}) {
    CheckRecurrent(type, 1, {1, 2, 3});
    CheckRecurrent(type, 3, {5, 1, 2});
    CheckRecurrent(type, 17, {4, 2, 2, 3});
    CheckRecurrent(type, 40, {3, 9, 5});
  }
}

TEST(RecurrentLayers, AgreeOnAllDevicesWithExposedStates) {
  const std::string fields =
      " recurrent_param { num_output: 5 expose_hidden: true "
      "weight_filler { type: 'uniform' min: -0.5 max: 0.5 } }";
  const Shape x{4, 3, 2}, cont{4, 3}, state{1, 3, 5};
  LayerCase lstm{
      "type: 'LSTM' bottom: 'x' bottom: 'cont' bottom: 'h0' bottom: 'c0' "
      "top: 'h' top: 'hT' top: 'cT'" +
          fields,
      {x, cont, state, state}};
  lstm.gradients = false;
  CheckLayer(lstm);
  LayerCase rnn{"type: 'RNN' bottom: 'x' bottom: 'cont' bottom: 'h0' top: 'h' top: 'hT'" + fields,
                {x, cont, state}};
  rnn.gradients = false;
  CheckLayer(rnn);
}

TEST(LSTMUnit, MatchesFiniteDifferences) {
  for (int64_t units : {1, 17, 3000}) {
    const auto value = [](int bottom, int64_t j) {
      return bottom == 2 ? static_cast<float>(j % 2) : 2 * Philox::For(7, bottom).Uniform(0, j) - 1;
    };
    CheckLayer({"type: 'LSTMUnit' bottom: 'c' bottom: 'g' bottom: 'cont' top: 'c1' top: 'h1'",
                {{1, 3, units}, {1, 3, 4 * units}, {1, 3}},
                TRAIN,
                value});
  }
}

/// Outputs of a net of two recurrent layers for steps [begin, end) of sequences without breaks.
std::vector<float> Steps(Net* net, int64_t begin, int64_t end) {
  Blob &x = net->blob("x"), &cont = net->blob("cont");
  x.Resize({end - begin, 2, 3});
  cont.Resize({end - begin, 2});
  for (int64_t i = 0; i < x.count(); ++i) {
    x.data().Write()[i] = Philox::For(2, 0).Uniform(0, begin * 6 + i) - 0.5f;
  }
  std::fill_n(cont.data().Write(), cont.count(), 1.0f);
  net->Reshape();
  net->Forward();
  const Tensor& top = net->blob("top").data();
  return {top.Read(), top.Read() + top.count()};
}

std::unique_ptr<Net> TwoLayers(const std::string& device) {
  NetParameter param;
  ReadTextFrom(R"(layer { name: "x" type: "Input" top: "x" top: "cont"
                          input_param { shape { dim: 6 dim: 2 dim: 3 } shape { dim: 6 dim: 2 } } }
                  layer { name: "a" )" +
                   Recurrent("RNN", 4, "bottom: 'x' bottom: 'cont'") + R"( }
                  layer { name: "b" type: "LSTM" bottom: "h" bottom: "cont" top: "top"
                          recurrent_param { num_output: 5 weight_filler { type: "xavier" } } })",
               "net.prototxt", &param);
  return std::make_unique<Net>(param, NetState(), std::make_shared<Context>(device, 1));
}

// promise 44
TEST(RecurrentLayers, GoOnWhereTheLastPassEndedAlsoWithAnotherNumberOfSteps) {
  for (const char* device : {"cpu", "shadow"}) {
    const auto whole = TwoLayers(device);
    const std::vector<float> expected = Steps(whole.get(), 0, 6);
    const auto parts = TwoLayers(device);
    std::vector<float> actual = Steps(parts.get(), 0, 2);
    for (float value : Steps(parts.get(), 2, 5)) actual.push_back(value);
    for (float value : Steps(parts.get(), 5, 6)) actual.push_back(value);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-6f) << i;
  }
}

std::string Flat(const std::string& bottoms, const std::string& fields) {
  return "type: 'Lstm' " + bottoms + " top: 'h' lstm_param { num_output: 5 " + fields +
         " weight_filler { type: 'uniform' min: -0.5 max: 0.5 } bias_filler { value: 0.1 } }";
}

TEST(FlatLstm, MatchesFiniteDifferences) {
  const std::string both = "bottom: 'x' bottom: 'cont'";
  CheckLayer({Flat(both, "batch_size: 3"), {{12, 2}, {12, 1}}, TRAIN, Breaks(3)});
  CheckLayer({Flat(both, ""), {{7, 2, 2}, {7}}, TRAIN, Breaks(1)});
  CheckLayer({Flat("bottom: 'x'", "batch_size: 3"), {{12, 2}}});
}

// The params of Lstm and LSTM stand in another order; the numbers are the same.
TEST(FlatLstm, EqualsLSTM) {
  NetParameter param;
  const std::string fields =
      "num_output: 5 weight_filler { value: 0.3 } bias_filler { value: 0.1 }";
  ReadTextFrom(R"(layer { name: "x" type: "Input" top: "x" top: "cont"
                          input_param { shape { dim: 4 dim: 3 dim: 2 } shape { dim: 4 dim: 3 } } }
                  layer { name: "flat" type: "Reshape" bottom: "x" top: "flat"
                          reshape_param { shape { dim: 12 dim: 2 } } }
                  layer { name: "a" type: "LSTM" bottom: "x" bottom: "cont" top: "a"
                          recurrent_param { )" +
                   fields + R"( } }
                  layer { name: "b" type: "Lstm" bottom: "flat" bottom: "cont" top: "b"
                          lstm_param { batch_size: 3 )" +
                   fields + " } }",
               "net.prototxt", &param);
  Net net(param, NetState(), std::make_shared<Context>("cpu", 1));
  for (const char* name : {"x", "cont"}) {
    Tensor& input = net.blob(name).data();
    for (int64_t i = 0; i < input.count(); ++i) {
      input.Write()[i] = Breaks(3)(name[0] == 'x' ? 0 : 1, i);
    }
  }
  net.Forward();
  const Tensor &a = net.blob("a").data(), &b = net.blob("b").data();
  ASSERT_EQ(b.shape(), Shape({12, 5}));
  for (int64_t i = 0; i < a.count(); ++i) EXPECT_EQ(a.Read()[i], b.Read()[i]);
}

// With a bound below all gradients, only their signs are left: +-1e-12 for each gate, step and
// sequence, summed over 4 steps of 3 sequences.
TEST(FlatLstm, CutsGradientsOfTheGatesAtEachStep) {
  NetParameter param;
  ReadTextFrom(
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 12 dim: 2 } } }"
      "layer { name: 'lstm' " +
          Flat("bottom: 'x'", "batch_size: 3 clipping_threshold: 1e-12") + " }",
      "net.prototxt", &param);
  param.set_force_backward(true);
  Net net(param, NetState(), std::make_shared<Context>("cpu", 1));
  NamedArrays given;
  FloatArray x{{12, 2}, {}}, gradient{{12, 5}, std::vector<float>(60, 1.0f)};
  for (int i = 0; i < 24; ++i) x.data.push_back(0.1f * static_cast<float>(i % 5) + 0.1f);
  given["input/x"] = x;
  given["top_diff/h"] = gradient;
  RunOptions options;
  options.backward = true;
  const RunResult result = RunNet(&net, given, options);
  for (float value : result.arrays.at("param_diff/lstm/2").data) {
    const float in_bounds = std::fabs(value) * 1e12f;
    EXPECT_LE(in_bounds, 12.001f);
    EXPECT_NEAR(in_bounds, std::round(in_bounds), 1e-3f);
  }
}

TEST(FlatLstm, ExplainsMistakes) {
  ExpectError({Flat("bottom: 'x'", "batch_size: 5"), {{12, 2}}}, {"12 rows", "5 sequences"});
  ExpectError({Flat("bottom: 'x'", "batch_size: 0"), {{12, 2}}}, {"batch_size", "is 0"});
  ExpectError({Flat("bottom: 'x' bottom: 'cont'", ""), {{12, 2}, {11}}}, {"indicators", "12"});
}

TEST(RecurrentLayers, ExplainMistakes) {
  ExpectError({"type: 'LSTM' bottom: 'x' bottom: 'cont' top: 'h'", {{2, 3, 4}, {2, 3}}},
              {"num_output"});
  ExpectError({Recurrent("LSTM", 2, "bottom: 'x' bottom: 'cont'"), {{6}, {6}}},
              {"steps x sequences"});
  ExpectError({Recurrent("RNN", 2, "bottom: 'x' bottom: 'cont'"), {{3, 2, 4}, {2, 3}}},
              {"indicators", "2 x 3", "3 x 2"});
  ExpectError(
      {Recurrent("RNN", 2, "bottom: 'x' bottom: 'cont' bottom: 's'"), {{3, 2, 4}, {3, 2}, {3, 4}}},
      {"static input", "3 x 4", "2 x 4"});
  ExpectError({"type: 'RNN' bottom: 'x' bottom: 'cont' bottom: 's' top: 'h' top: 'hT' "
               "recurrent_param { num_output: 2 expose_hidden: true }",
               {{3, 2, 4}, {3, 2}, {1, 2, 4}}},
              {"first state", "1 x 2 x 4", "1 x 2 x 2"});
  ExpectError({"type: 'LSTM' bottom: 'x' bottom: 'cont' top: 'h' top: 'hT' "
               "recurrent_param { num_output: 2 }",
               {{3, 2, 4}, {3, 2}}},
              {"without expose_hidden", "1 top"});
}

}  // namespace
}  // namespace moka
