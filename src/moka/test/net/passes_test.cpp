#include "moka/net/passes.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

NetParameter NetOf(const std::string& text) {
  NetParameter net;
  ReadTextFrom(text, "net.prototxt", &net);
  return net;
}

/// The lines of a table but its head, as cells.
std::vector<std::vector<std::string>> Rows(const std::string& table) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : Split(table, '\n')) {
    rows.push_back(Split(line, '\t'));
    rows.back().resize(std::max<size_t>(rows.back().size(), 5));
  }
  rows.erase(rows.begin());
  return rows;
}

class FilterGolden : public testing::TestWithParam<std::string> {};

TEST_P(FilterGolden, KeepsTheLayersThatCaffeKeeps) {
  const GoldenCase golden("io", GetParam());
  const NetParameter net = NetOf(golden.File());
  for (const auto& row : Rows(golden.File("expected.tsv"))) {
    NetState state = net.state();
    state.set_phase(row[0] == "TRAIN" ? TRAIN : TEST);
    state.set_level(std::stoi(row[1]));
    for (const std::string& stage : Split(row[2], ',')) state.add_stage(stage);
    std::vector<std::string> kept;
    const NetParameter filtered = FilterLayers(net, state);
    for (const LayerParameter& layer : filtered.layer()) {
      kept.push_back(layer.name());
    }
    EXPECT_EQ(Join(kept, ","), row[3]) << row[0] << " " << row[1] << " " << row[2];
  }
}

std::vector<std::string> NamesOf(const std::string& prefix) {
  std::vector<std::string> names;
  for (const GoldenCase& golden : GoldenCases("io", prefix)) names.push_back(golden.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, FilterGolden, testing::ValuesIn(NamesOf("filter_")),
                         [](const auto& info) { return info.param; });

class SplitsGolden : public testing::TestWithParam<std::string> {};

TEST_P(SplitsGolden, PutsSplitsWhereCaffeDoes) {
  const GoldenCase golden("io", GetParam());
  const Net net(NetOf(golden.File()), NetState(), std::make_shared<Context>("cpu", 1));
  std::vector<std::string> actual, expected;
  for (const NetLayer& layer : net.layers()) {
    const LayerParameter& param = layer.param();
    actual.push_back(
        Join(std::vector<std::string>{param.name(), param.type(), Join(param.bottom(), ","),
                                      Join(param.top(), ","), Join(layer.loss_weights, ",")},
             "|"));
  }
  for (const auto& row : Rows(golden.File("expected.tsv"))) expected.push_back(Join(row, "|"));
  EXPECT_EQ(Join(actual, "\n"), Join(expected, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Cases, SplitsGolden, testing::ValuesIn(NamesOf("splits_")),
                         [](const auto& info) { return info.param; });

TEST(FilterLayers, RefusesBothKindsOfRules) {
  const NetParameter net =
      NetOf("layer { name: 'a' type: 'ReLU' include { phase: TRAIN } exclude { phase: TEST } }");
  EXPECT_THROW(FilterLayers(net, NetState()), Error);
}

}  // namespace
}  // namespace moka
