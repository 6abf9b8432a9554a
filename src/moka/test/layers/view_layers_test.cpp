#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(shape, Flatten, "flatten_");

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

}  // namespace
}  // namespace moka
