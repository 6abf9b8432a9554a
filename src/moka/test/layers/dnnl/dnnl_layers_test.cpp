// Layers behind a convolution of oneDNN's, whose maps come in blocks of channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "moka/base/philox.hpp"
#include "moka/net/run_net.hpp"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

const char kBefore[] = R"(
  force_backward: true
  layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 13 dim: 11 } } }
  layer { name: "a" type: "Convolution" bottom: "data" top: "a"
          convolution_param { num_output: CHANNELS kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
  layer { name: "b" type: "Convolution" bottom: "data" top: "b"
          convolution_param { num_output: CHANNELS kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
)";
const char kBehind[] = R"(
  layer { name: "c" type: "Convolution" bottom: "y" top: "c"
          convolution_param { num_output: 20 kernel_size: 3 weight_filler { type: "xavier" } } }
)";

struct Between {
  const char* name;
  const char* layers;  // from "a" and "b" to "y"
};

RunResult RunBy(const std::string& engine, const std::string& text) {
  NetParameter param;
  ReadTextFrom(text, "net.prototxt", &param);
  for (LayerParameter& layer : *param.mutable_layer()) layer.set_engine(engine);
  NetState state;
  state.set_phase(TRAIN);
  Net net(param, state, std::make_shared<Context>("cpu", 2));
  NamedArrays given;
  FloatArray image{{2, 3, 13, 11}, std::vector<float>(2 * 3 * 13 * 11)};
  for (size_t i = 0; i < image.data.size(); ++i) {
    image.data[i] = Philox::For(3, 1).Uniform(0, static_cast<int64_t>(i)) - 0.5f;
  }
  given["input/data"] = image;
  const Shape& shape = net.blob("c").shape();
  FloatArray gradient{shape.dims(), std::vector<float>(shape.Count())};
  for (size_t i = 0; i < gradient.data.size(); ++i) {
    gradient.data[i] = Philox::For(3, 2).Uniform(0, static_cast<int64_t>(i)) - 0.5f;
  }
  given["top_diff/c"] = gradient;
  RunOptions options;
  options.backward = true;
  return RunNet(&net, given, options);
}

class BlockedMaps : public testing::TestWithParam<std::tuple<Between, int>> {};

TEST_P(BlockedMaps, GiveWhatPlainOnesDo) {
  std::string text = std::string(kBefore) + std::get<0>(GetParam()).layers + kBehind;
  const std::string channels = std::to_string(std::get<1>(GetParam()));
  for (size_t at; (at = text.find("CHANNELS")) != std::string::npos;) text.replace(at, 8, channels);
  const RunResult plain = RunBy("MOKA", text), blocked = RunBy("DNNL", text);
  ASSERT_EQ(plain.arrays.size(), blocked.arrays.size());
  for (const auto& [path, expected] : plain.arrays) {
    const FloatArray& actual = blocked.arrays.at(path);
    ASSERT_EQ(actual.shape, expected.shape) << path;
    float largest = 1;  // a bias before BatchNorm has gradient 0, but for rounding
    for (float value : expected.data) largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < expected.data.size(); ++i) {
      ASSERT_NEAR(actual.data[i], expected.data[i], 1e-5f * largest) << path << " " << i;
    }
  }
}

const char kMax[] = R"(layer { name: "y" type: "Pooling" bottom: "a" top: "y"
  pooling_param { kernel_size: 3 stride: 2 } })";
const char kPaddedAverage[] = R"(layer { name: "y" type: "Pooling" bottom: "a" top: "y"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } })";
const char kAverage[] = R"(layer { name: "y" type: "Pooling" bottom: "a" top: "y"
  pooling_param { pool: AVE kernel_size: 3 stride: 2 } })";
const char kConcat[] = R"(layer { name: "y" type: "Concat" bottom: "a" bottom: "b" top: "y" })";
const char kSum[] = R"(layer { name: "y" type: "Eltwise" bottom: "a" bottom: "b" top: "y"
  eltwise_param { coeff: 2 coeff: -1 } })";
const char kProduct[] = R"(layer { name: "y" type: "Eltwise" bottom: "a" bottom: "b" top: "y"
  eltwise_param { operation: PROD stable_prod_grad: false } })";
const char kLargest[] = R"(layer { name: "y" type: "Eltwise" bottom: "a" bottom: "b" top: "y"
  eltwise_param { operation: MAX } })";
const char kInPlace[] = R"(layer { name: "r" type: "ReLU" bottom: "a" top: "a" }
  layer { name: "s" type: "Sigmoid" bottom: "a" top: "s" }
  layer { name: "y" type: "Concat" bottom: "s" bottom: "a" top: "y" })";
const char kNorm[] = R"(layer { name: "y" type: "LRN" bottom: "a" top: "y"
  lrn_param { alpha: 0.1 local_size: 5 } })";
const char kBatchNorm[] = R"(layer { name: "n" type: "BatchNorm" bottom: "a" top: "a" }
  layer { name: "y" type: "Scale" bottom: "a" top: "y" scale_param { bias_term: true } })";

INSTANTIATE_TEST_SUITE_P(
    Between, BlockedMaps,
    testing::Combine(testing::Values(Between{"Max", kMax}, Between{"PaddedAverage", kPaddedAverage},
                                     Between{"Average", kAverage}, Between{"Concat", kConcat},
                                     Between{"Sum", kSum}, Between{"Product", kProduct},
                                     Between{"Largest", kLargest}, Between{"InPlace", kInPlace},
                                     Between{"Norm", kNorm}, Between{"BatchNorm", kBatchNorm}),
                     testing::Values(16, 32, 20)),
    [](const auto& info) {
      return std::get<0>(info.param).name + std::to_string(std::get<1>(info.param));
    });

}  // namespace
}  // namespace moka
