#include <gtest/gtest.h>

#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(norm, BatchNorm, "bn_");

const char kNorm[] = "type: 'BatchNorm' name: 'bn' bottom: 'a' top: 'b' ";

TEST(BatchNormLayer, OnTheBatchForAnyNumberOfAxes) {
  for (const Shape& shape : {Shape{9}, Shape{6, 5}, Shape{5, 3, 4}, Shape{3, 2, 3, 4, 2}}) {
    CheckLayer({kNorm, {shape}});
  }
}

TEST(BatchNormLayer, OnMovingAverages) {
  LayerCase test{kNorm, {Shape{5, 3, 4}}, TEST};
  test.gradients = false;  // of statistics there are none
  CheckLayer(test);
}

// promise 18
TEST(BatchNormLayer, KeepsItsStatisticsFromTheSolver) {
  NetParameter param;
  ReadTextFrom(
      "force_backward: true layer { name: 'in' type: 'Input' top: 'a' "
      "input_param { shape { dim: 2 dim: 3 } } } layer { " +
          std::string(kNorm) + " }",
      "case", &param);
  const Net net(param, NetState(), std::make_shared<Context>());
  ASSERT_EQ(net.learnable_params().size(), 3u);
  for (const LearnableParam& statistic : net.learnable_params()) {
    EXPECT_EQ(statistic.lr_mult, 0);
    EXPECT_EQ(statistic.decay_mult, 0);
    EXPECT_FALSE(net.layers()[1].layer->param_propagate(statistic.index));
  }
}

TEST(BatchNormLayer, RefusesToLearnItsStatistics) {
  ExpectError({std::string(kNorm) + "param { lr_mult: 1 }", {Shape{2, 3}}},
              {"bn", "BatchNorm", "lr_mult: 0"});
}

}  // namespace
}  // namespace moka
