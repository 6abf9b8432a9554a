#include "moka/base/error.hpp"
#include "moka/layers/registry.hpp"
#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(linear, InnerProduct, "ip_");

std::string InnerProduct(const std::string& fields) {
  return "type: 'InnerProduct' bottom: 'a' top: 'b' inner_product_param { " + fields +
         " weight_filler { type: 'uniform' min: -0.5 max: 0.5 } }";
}

TEST(InnerProduct, MatchesFiniteDifferences) {
  CheckLayer({InnerProduct("num_output: 5"), {Shape{4, 3, 2, 2}}});
  CheckLayer({InnerProduct("num_output: 5 transpose: true"), {Shape{4, 3, 2, 2}}});
  CheckLayer({InnerProduct("num_output: 1 bias_term: false axis: -1"), {Shape{2, 3, 7}}});
}

TEST(InnerProduct, CountsTwoOperationsAMultiplyAdd) {
  Context context("cpu", 1);
  LayerParameter param;
  param.set_type("InnerProduct");
  param.mutable_inner_product_param()->set_num_output(500);
  const std::unique_ptr<Layer> layer = LayerRegistry::Get().Create(param, context);
  Blob x("x", {64, 50, 4, 4}), y("y");
  layer->SetUp({&x}, {&y});
  layer->Reshape({&x}, {&y});
  EXPECT_EQ(y.shape(), Shape({64, 500}));
  EXPECT_EQ(layer->Operations({&x}, {&y}), 2 * 64 * 800 * 500);
}

TEST(InnerProduct, ExplainsMistakes) {
  const Shape shape{2, 3, 6, 6};
  ExpectError({InnerProduct(""), {shape}}, {"num_output", "missing"});
  ExpectError({InnerProduct("num_output: 2 axis: 4"), {shape}},
              {"axis 4", "4 axes (2 x 3 x 6 x 6)"});
  ExpectError({InnerProduct("num_output: 2 axis: -5"), {shape}}, {"axis -5", "4 axes"});
}

TEST(InnerProduct, RefusesOtherNumbersOfInputsThanItsWeights) {
  Context context("cpu", 1);
  LayerParameter param;
  param.set_type("InnerProduct");
  param.mutable_inner_product_param()->set_num_output(5);
  const std::unique_ptr<Layer> layer = LayerRegistry::Get().Create(param, context);
  Blob x("x", {4, 6}), y("y");
  layer->SetUp({&x}, {&y});
  x.Resize({4, 2, 2});
  EXPECT_THROW(layer->Reshape({&x}, {&y}), Error);
  x.Resize({7, 2, 3});
  layer->Reshape({&x}, {&y});
  EXPECT_EQ(y.shape(), Shape({7, 5}));
}

}  // namespace
}  // namespace moka
