#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(shape, Concat, "concat_");
MOKA_GOLDEN(shape, Eltwise, "eltwise_");
MOKA_GOLDEN(shape, Silence, "silence");
MOKA_GOLDEN(shape, DummyData, "dummydata_");

TEST(ConcatLayer, AlongEachAxis) {
  for (int axis : {0, 1, 2}) {
    const Shape shape{2, 3, 5};
    CheckLayer({Text("type: 'Concat' bottom: 'a' bottom: 'b' bottom: 'c' top: 'y' concat_param { "
                     "axis: ",
                     axis, " }"),
                {shape, shape.With(axis, 1), shape.With(axis, 4)}});
  }
}

TEST(ConcatLayer, RefusesWhatDoesNotFit) {
  const std::string concat = "type: 'Concat' bottom: 'a' bottom: 'b' top: 'y' concat_param { ";
  ExpectError({concat + "axis: 1 }", {Shape{2, 3, 6, 6}, Shape{2, 3, 5, 6}}},
              {"2 x 3 x 6 x 6", "2 x 3 x 5 x 6", "axis 1"});
  ExpectError({concat + "axis: 4 }", {Shape{2, 3, 6, 6}, Shape{2, 3, 6, 6}}}, {"axis 4"});
  ExpectError({concat + "axis: 1 concat_dim: 1 }", {Shape{2, 3}, Shape{2, 3}}},
              {"axis and concat_dim"});
}

std::string Eltwise(const std::string& fields) {
  return "type: 'Eltwise' bottom: 'a' bottom: 'b' bottom: 'c' top: 'y' eltwise_param { " + fields +
         " }";
}

TEST(EltwiseLayer, EachOperation) {
  const std::vector<Shape> shapes(3, Shape{2, 3, 5});
  for (const char* fields : {"", "coeff: 2 coeff: -1 coeff: 0.5", "operation: PROD",
                             "operation: PROD stable_prod_grad: false"}) {
    CheckLayer({Eltwise(fields), shapes});
  }
  // Apart by more than the step of the differences.
  CheckLayer({Eltwise("operation: MAX"), shapes, TRAIN,
              [](int bottom, int64_t j) { return static_cast<float>((j * 5 + bottom * 3) % 7); }});
}

TEST(EltwiseLayer, RefusesWhatDoesNotFit) {
  ExpectError({Eltwise(""), {Shape{2, 3}, Shape{2, 3}, Shape{3, 2}}}, {"2 x 3", "3 x 2", "\"c\""});
  const std::vector<Shape> shapes(3, Shape{2, 3});
  ExpectError({Eltwise("coeff: 1"), shapes}, {"1 coeff", "3 bottoms"});
  ExpectError({Eltwise("operation: PROD coeff: 1 coeff: 1 coeff: 1"), shapes}, {"PROD", "SUM"});
}

TEST(SilenceLayer, GivesZeroGradients) {
  CheckLayer({"type: 'Silence' bottom: 'a' bottom: 'b'", {Shape{2, 3}, Shape{4}}});
}

NetParameter DummyNet(const std::string& fields) {
  NetParameter net;
  *net.add_layer() =
      LayerOf("name: 'd' type: 'DummyData' top: 'a' top: 'b' dummy_data_param { " + fields + " }");
  return net;
}

TEST(DummyDataLayer, DrawsRandomTopsAnewAndKeepsConstantOnes) {
  NetState state;
  Net net(DummyNet("data_filler { value: 3 } data_filler { type: 'gaussian' } num: 2 channels: 3 "
                   "height: 4 width: 5"),
          state, std::make_shared<Context>("cpu", 1));
  const auto first = RunNet(&net, {}).arrays, second = RunNet(&net, {}).arrays;
  EXPECT_EQ(first.at("output/a").shape, (std::vector<int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(first.at("output/a").data, std::vector<float>(120, 3.0f));
  EXPECT_EQ(second.at("output/a").data, first.at("output/a").data);
  EXPECT_NE(second.at("output/b").data, first.at("output/b").data);
}

TEST(DummyDataLayer, RefusesNumbersThatDoNotFit) {
  const std::string layer = "type: 'DummyData' top: 'a' top: 'b' top: 'c' dummy_data_param { ";
  const std::string shape = "shape { dim: 2 } ";
  ExpectError({layer + shape + "data_filler {} data_filler {} }", {}}, {"2 data_filler", "3 top"});
  ExpectError({layer + "num: 2 }", {}}, {"0 channels"});
  ExpectError({layer + shape + "num: 2 channels: 1 height: 1 width: 1 }", {}}, {"both shape"});
  ExpectError({layer + shape + shape + " }", {}}, {"2 shape"});
}

}  // namespace
}  // namespace moka
