#include "moka/net/net.hpp"

#include <gtest/gtest.h>

#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

/// Golden nets whose layer types are all there, but for those that moka answers differently on
/// purpose (docs/differences.md).
std::vector<std::string> KnownNets(const std::string& group) {
  // An in-place layer behind a view changes the other views in Caffe; in moka it does not.
  // A consumed loss keeps its weight in moka; in Caffe its reader overwrites it.
  // Gradients of a Scale without axes before it accumulate in moka; in Caffe the last use wins.
  std::vector<std::string> names;
  for (const std::string& name : GoldenNamesOf(group, {},
                                               {"alias_flatten_inplace", "alias_reshape_inplace",
                                                "loss_top_consumed", "share_scale_full"})) {
    NetParameter net;
    ReadTextFrom(GoldenCase(group, name).File(), name, &net);
    bool known = true;
    for (const LayerParameter& layer : net.layer()) {
      known = known && LayerRegistry::Get().Find(layer.type()) != nullptr;
    }
    if (known) names.push_back(name);
  }
  return names;
}

class NetRulesGolden : public GoldenTest {};
TEST_P(NetRulesGolden, EqualsCaffe) {
  CheckGolden("net", std::get<0>(GetParam()), std::get<1>(GetParam()), 2e-5f);
}
class WholeNetGolden : public GoldenTest {};
TEST_P(WholeNetGolden, EqualsCaffe) {
  CheckGolden("nets", std::get<0>(GetParam()), std::get<1>(GetParam()), 2e-5f);
}

std::string NameOf(const testing::TestParamInfo<GoldenTest::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Cases, NetRulesGolden,
                         testing::Combine(testing::ValuesIn(KnownNets("net")),
                                          testing::Values("cpu", "shadow")),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Cases, WholeNetGolden,
                         testing::Combine(testing::ValuesIn(KnownNets("nets")),
                                          testing::Values("cpu", "shadow")),
                         NameOf);

NetParameter Parse(const std::string& text) {
  NetParameter net;
  ReadTextFrom(text, "net.prototxt", &net);
  return net;
}

std::string ErrorOf(const std::string& text) {
  try {
    const Net net(Parse(text), NetState(), std::make_shared<Context>("cpu", 1));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void ExpectParts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" not in " << message;
  }
}

const char* const kInput =
    "layer { name: 'in' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 } } }\n";

TEST(Net, UnknownBottomsAreNamedWithTheNearestBlobAndThePlace) {
  ExpectParts(
      ErrorOf(std::string(kInput) + "layer { name: 'r' type: 'ReLU' bottom: 'dat' top: 'r' }"),
      {"net.prototxt:2:1", "layer \"r\" (ReLU)", "\"dat\"", "did you mean \"data\"?"});
  ExpectParts(
      ErrorOf(std::string(kInput) + "layer { name: 'r' type: 'ReLU' bottom: 's' top: 'r' }\n"
                                    "layer { name: 's' type: 'ReLU' bottom: 'data' top: 's' }"),
      {"\"s\"", "further down", "net.prototxt:3:1"});
}

TEST(Net, MistakesInTheStructureAreErrors) {
  ExpectParts(
      ErrorOf(std::string(kInput) + "layer { name: 'r' type: 'Relu' bottom: 'data' top: 'r' }"),
      {"unknown layer type \"Relu\"", "did you mean \"ReLU\"?"});
  ExpectParts(ErrorOf("layer { name: 'v' type: 'VideoData' top: 'v' }"),
              {"\"v\" (VideoData)", "does not read cameras and videos", "ImageData"});
  ExpectParts(ErrorOf(std::string(kInput) + "layer { name: 'r' type: 'ReLU' top: 'r' }"),
              {"takes 1 bottom(s), but has 0"});
  ExpectParts(
      ErrorOf(std::string(kInput) + "layer { name: 'a' type: 'ReLU' bottom: 'data' top: 'r' }\n"
                                    "layer { name: 'b' type: 'TanH' bottom: 'data' top: 'r' }"),
      {"net.prototxt:3:1", "top \"r\"", "net.prototxt:2:1"});
  ExpectParts(ErrorOf(std::string(kInput) +
                      "layer { name: 'f' type: 'Flatten' bottom: 'data' top: 'data' }"),
              {"Flatten cannot work in place"});
  ExpectParts(
      ErrorOf(
          std::string(kInput) +
          "layer { name: 'a' type: 'ReLU' bottom: 'data' top: 'r' loss_weight: 1 loss_weight: 2 }"),
      {"2 loss_weight(s) for 1 top(s)"});
  ExpectParts(ErrorOf(""), {"no layers"});
}

TEST(Net, AllProblemsAreGatheredWhenAsked) {
  std::vector<std::string> problems;
  NetOptions options;
  options.problems = &problems;
  const Net net(Parse(std::string(kInput) +
                      "layer { name: 'a' type: 'Relu' bottom: 'data' top: 'a' }\n"
                      "layer { name: 'b' type: 'ReLU' bottom: 'a' top: 'b' }\n"
                      "layer { name: 'c' type: 'ReLU' bottom: 'x' top: 'c' }\n"
                      "layer { name: 'd' type: 'InnerProduct' bottom: 'data' top: 'd' }"),
                NetState(), std::make_shared<Context>("cpu", 1), options);
  ASSERT_EQ(problems.size(), 3u) << Join(problems, "\n");
  ExpectParts(Join(problems, "\n"), {"\"Relu\"", "\"x\"", "num_output"});
}

// In Caffe the in-place layer changes what the other reader of the same memory sees.
TEST(Net, AnInPlaceLayerBehindAViewLeavesTheOtherReadersAlone) {
  for (const char* device : {"cpu", "shadow"}) {
    Net net(
        Parse(
            "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 } } }\n"
            "layer { name: 'f' type: 'Flatten' bottom: 'x' top: 'flat' }\n"
            "layer { name: 'r' type: 'ReLU' bottom: 'flat' top: 'flat' }\n"
            "layer { name: 't' type: 'Power' bottom: 'x' top: 'same' }"),
        NetState(), std::make_shared<Context>(device, 1));
    const NamedArrays out = RunNet(&net, {{"input/x", {{1, 2}, {-1, 2}}}}).arrays;
    EXPECT_EQ(out.at("output/flat").data, (std::vector<float>{0, 2}));
    EXPECT_EQ(out.at("output/same").data, (std::vector<float>{-1, 2}));
  }
}

TEST(Net, ForceBackwardPassesALayerWithoutDerivative) {
  const std::string threshold = "layer { name: 't' type: 'Threshold' bottom: 'data' top: 't' }";
  Net net(Parse("force_backward: true\n" + std::string(kInput) + threshold), NetState(),
          std::make_shared<Context>("cpu", 1));
  RunOptions options;
  options.backward = true;
  const RunResult result = RunNet(&net, {{"input/data", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}, options);
  EXPECT_EQ(result.arrays.count("input_diff/data"), 0u);
}

// The gradient of 1 * loss + sum(2 * loss) with respect to the loss is 3.
TEST(Net, ALossThatIsReadKeepsItsWeight) {
  Net net(Parse("force_backward: true\n"
                "layer { name: 'in' type: 'Input' top: 'x' top: 't' input_param { shape { dim: 1 "
                "dim: 1 } } }\n"
                "layer { name: 'l' type: 'EuclideanLoss' bottom: 'x' bottom: 't' top: 'loss' }\n"
                "layer { name: 'p' type: 'Power' bottom: 'loss' top: 'twice' loss_weight: 1 "
                "power_param { scale: 2 } }"),
          NetState(), std::make_shared<Context>("cpu", 1));
  RunOptions options;
  options.backward = true;
  const RunResult result =
      RunNet(&net, {{"input/x", {{1, 1}, {5}}}, {"input/t", {{1, 1}, {3}}}}, options);
  EXPECT_EQ(result.loss, 2 + 4);
  EXPECT_EQ(result.arrays.at("input_diff/x").data[0], 2 * 3);
}

}  // namespace
}  // namespace moka
