#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(shape, Flatten, "flatten_");
MOKA_GOLDEN(shape, Reshape, "reshape_");

std::string Reshaped(const std::string& fields) {
  return "type: 'Reshape' bottom: 'a' top: 'b' reshape_param { " + fields + " }";
}

TEST(ReshapeLayer, CopiesInfersAndInsertsAxes) {
  for (const char* fields :
       {"shape { dim: 0 dim: -1 }", "shape { dim: 0 dim: 0 dim: 2 dim: -1 }",
        "axis: 1 num_axes: 0 shape { dim: 1 }", "axis: -1 num_axes: 0 shape { dim: 1 }",
        "axis: 1 num_axes: 2 shape { dim: -1 }"}) {
    CheckLayer({Reshaped(fields), {Shape{3, 2, 4}}});
  }
}

TEST(ReshapeLayer, RefusesShapesThatHoldAnotherNumberOfValues) {
  const std::vector<Shape> shapes = {Shape{2, 3, 4}};
  ExpectError({Reshaped("shape { dim: 5 dim: 5 }"), shapes}, {"24 values", "5 x 5"});
  ExpectError({Reshaped("shape { dim: 5 dim: -1 }"), shapes}, {"do not divide"});
  ExpectError({Reshaped("shape { dim: -1 dim: -1 }"), shapes}, {"only one"});
  ExpectError({Reshaped("shape { dim: -2 }"), shapes}, {"dim -2"});
  ExpectError({Reshaped("axis: 2 num_axes: 2 shape { dim: 4 }"), shapes}, {"beyond"});
  ExpectError({Reshaped("num_axes: -2 shape { dim: 24 }"), shapes}, {"num_axes is -2"});
  ExpectError({Reshaped("shape { dim: 6 dim: 2 dim: 2 dim: 0 }"), shapes}, {"no axis to copy"});
}

TEST(FlattenLayer, AnyRunOfAxes) {
  for (const char* fields : {"", "axis: 0", "axis: 2", "axis: 1 end_axis: 2", "axis: -2"}) {
    CheckLayer({Text("type: 'Flatten' bottom: 'a' top: 'b' flatten_param { ", fields, " }"),
                {Shape{2, 3, 4, 5}}});
  }
}

TEST(FlattenLayer, RefusesAxesThatAreNotThereAndWorkingInPlace) {
  ExpectError(
      {"type: 'Flatten' bottom: 'a' top: 'b' flatten_param { axis: 4 }", {Shape{2, 3, 4, 5}}},
      {"axis 4"});
  ExpectError({"type: 'Flatten' bottom: 'a' top: 'b' flatten_param { axis: 2 end_axis: 1 }",
               {Shape{2, 3, 4, 5}}},
              {"end_axis"});
  ExpectError({"type: 'Flatten' bottom: 'a' top: 'a'", {Shape{2, 3}}}, {"in place"});
}

TEST(SqueezeLayer, RemovesAxesOfLengthOne) {
  CheckLayer({"type: 'Squeeze' bottom: 'a' top: 'b' squeeze_param { axis: 1 axis: -1 }",
              {Shape{3, 1, 1, 2, 1}}});
  CheckLayer({"type: 'Squeeze' bottom: 'a' top: 'b'", {Shape{3, 1, 1, 2, 1}}});
  ExpectError({"type: 'Squeeze' bottom: 'a' top: 'b' squeeze_param { axis: 0 }", {Shape{3, 1}}},
              {"axis 0", "3 x 1"});
}

}  // namespace
}  // namespace moka
