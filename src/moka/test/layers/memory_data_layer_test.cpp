#include "moka/layers/memory_data_layer.hpp"

#include <gtest/gtest.h>

#include "moka/base/error.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/golden.hpp"
#include "moka/test/layers/data_cases.hpp"

namespace moka {
namespace {

std::unique_ptr<Net> MakeNet(const std::string& text, const std::string& device = "cpu") {
  NetParameter param;
  ReadTextFrom(text, "net.prototxt", &param);
  return std::make_unique<Net>(param, NetState(), std::make_shared<Context>(device));
}

MemoryDataLayer* LayerIn(const Net& net) {
  return dynamic_cast<MemoryDataLayer*>(net.layers()[0].layer.get());
}

class MemoryDataLayerGolden : public testing::TestWithParam<const char*> {};

// Its label top is N x 1 x 1 x 1 in Caffe from the first pass on; here it stays N.
TEST_P(MemoryDataLayerGolden, BatchesEqualThoseOfCaffe) {
  const GoldenCase golden("data", "memory_basic");
  const auto net = MakeNet(golden.File(), GetParam());
  const FloatArray data = golden.Array("array/data"), label = golden.Array("array/label");
  LayerIn(*net)->SetArrays(data.data.data(), label.data.data(), data.shape[0]);
  const size_t batches = golden.Arrays("batch").size() / 2;
  ASSERT_GT(batches, 1u);
  for (size_t k = 0; k < batches; ++k) {
    net->Forward();
    for (const char* blob : {"data", "label"}) {
      const FloatArray expected = golden.Array(Text("batch/", k, "/", blob));
      const float* values = net->blob(blob).data().Read();
      const std::vector<float> got(values, values + net->blob(blob).count());
      EXPECT_EQ(got, expected.data) << "batch " << k << " " << blob;
    }
    EXPECT_EQ(net->blob("label").shape(), Shape({2}));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, MemoryDataLayerGolden, testing::Values("cpu", "shadow"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MemoryDataLayer, SaysThatAProgramHasToGiveTheArrays) {
  ExpectRefused("memory_not_set", {"a program has to give the arrays"});
}

TEST(MemoryDataLayer, RefusesArraysThatAreNoWholeBatchesAndMissingSizes) {
  const auto net = MakeNet(
      "layer { name: 'data' type: 'MemoryData' top: 'data' top: 'label'\n"
      "  memory_data_param { batch_size: 2 channels: 1 height: 1 width: 1 } }");
  const std::vector<float> values(4);
  MemoryDataLayer* layer = LayerIn(*net);
  ExpectParts(ErrorOf([&] { layer->SetArrays(values.data(), values.data(), 3); }),
              {"3 items", "batch size, 2"});
  ExpectParts(ErrorOf([&] { layer->SetArrays(values.data(), nullptr, 4); }), {"no labels"});
  ExpectParts(ErrorOf([] {
                MakeNet(
                    "layer { name: 'data' type: 'MemoryData' top: 'data'\n"
                    "  memory_data_param { batch_size: 2 channels: 1 height: 1 } }");
              }),
              {"net.prototxt:1:1", "2 x 1 x 1 x 0"});
}

}  // namespace
}  // namespace moka
