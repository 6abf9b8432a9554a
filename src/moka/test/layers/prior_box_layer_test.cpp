#include <gtest/gtest.h>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(ssd, PriorBox, "prior_box_");

const std::string kBegin = "bottom: 'map' bottom: 'picture' top: 'p' prior_box_param { ";

LayerCase PriorBox(const std::string& fields) {
  return {"type: 'PriorBox' " + kBegin + fields + " }",
          {Shape{2, 5, 3, 4}, Shape{2, 3, 30, 40}},
          TEST,
          nullptr,
          false};
}

LayerCase Clustered(const std::string& fields) {
  LayerCase layer = PriorBox("");
  layer.layer = "type: 'PriorBoxClustered' " + kBegin + fields + " }";
  return layer;
}

TEST(PriorBoxLayer, IsTheSameOnAllDevices) {
  CheckLayer(PriorBox("min_size: 8 max_size: 12 aspect_ratio: 2"));
  CheckLayer(Clustered("width: 4 height: 5 width: 6 height: 7"));
}

// A step of 0 is one that is not given.
TEST(PriorBoxLayer, AStepFollowsFromThePicture) {
  EXPECT_EQ(Output(Clustered("width: 4 height: 5 step: 0")),
            Output(Clustered("width: 4 height: 5 step: 10")));
}

TEST(PriorBoxLayer, RefusesFieldsThatMakeNoBoxes) {
  ExpectError(PriorBox(""), {"at least one min_size"});
  ExpectError(PriorBox("min_size: 0"), {"min_size is 0"});
  ExpectError(PriorBox("min_size: 4 max_size: 4"), {"max_size is 4", "larger than min_size"});
  ExpectError(PriorBox("min_size: 4 min_size: 6 max_size: 9"), {"2 min_sizes", "1 max_sizes"});
  ExpectError(PriorBox("min_size: 4 aspect_ratio: -2"), {"aspect_ratio is -2"});
  ExpectError(PriorBox("min_size: 4 variance: 1 variance: 2"), {"2 variances", "1 or 4"});
  ExpectError(PriorBox("min_size: 4 variance: 0"), {"variance is 0"});
  ExpectError(PriorBox("min_size: 4 step: 8 step_h: 8 step_w: 8"), {"exclude each other"});
  ExpectError(PriorBox("min_size: 4 step_h: 8"), {"both or none"});
  ExpectError(Clustered("width: 4 width: 5 height: 3"), {"2 widths and 1 heights"});
  ExpectError(Clustered("width: 4 height: 0"), {"0 x 4"});
}

TEST(PriorBoxLayer, NeedsMaps) {
  LayerCase layer = PriorBox("min_size: 4");
  layer.shapes[1] = Shape{2, 3};
  ExpectError(layer, {"N x C x H x W", "picture", "2 x 3"});
}

}  // namespace
}  // namespace moka
