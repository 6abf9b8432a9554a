#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(act, ReLU, "relu_basic", "relu_slope", "relu_2d", "relu_kinks", "relu_engine");
MOKA_GOLDEN(shape, Softmax, "softmax_axis0", "softmax_large", "softmax_one_class");

TEST(ReLULayer, OnOddSizes) {
  for (int64_t width : {1, 15, 17, 8209}) {
    CheckLayer({"type: 'ReLU' bottom: 'a' top: 'b' relu_param { negative_slope: 0.1 }",
                {Shape{1, width}}});
  }
}

TEST(ReLULayer, Relu6StopsAtSix) {
  const LayerCase six{"type: 'ReLU' bottom: 'a' top: 'b' relu_param { relu6: true }",
                      {Shape{5}},
                      TRAIN,
                      [](int, int64_t j) { return static_cast<float>(4 * j - 4); }};
  EXPECT_EQ(Output(six), (std::vector<float>{0, 0, 4, 6, 6}));
  CheckLayer({six.layer, {Shape{40}}, TRAIN, [](int, int64_t j) { return 0.5f * j - 7.25f; }});
}

TEST(SoftmaxLayer, AlongAnyAxisAndForVeryLargeScores) {
  CheckLayer({"type: 'Softmax' bottom: 'a' top: 'b'", {Shape{3, 7, 5}}});
  CheckLayer({"type: 'Softmax' bottom: 'a' top: 'b' softmax_param { axis: 0 }", {Shape{3, 7}}});
  const LayerCase large{
      "type: 'Softmax' bottom: 'a' top: 'b'", {Shape{1, 3}}, TEST, [](int, int64_t j) {
        return j == 1 ? 1e30f : -1e30f;
      }};
  EXPECT_EQ(Output(large), (std::vector<float>{0, 1, 0}));
  ExpectError({"type: 'Softmax' bottom: 'a' top: 'b' softmax_param { axis: 2 }", {Shape{3, 7}}},
              {"axis 2", "2 axes"});
}

}  // namespace
}  // namespace moka
