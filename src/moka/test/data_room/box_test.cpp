#include "moka/data/box.hpp"

#include <gtest/gtest.h>

namespace moka {
namespace {

void ExpectBox(const Box& want, const Box& got) {
  EXPECT_FLOAT_EQ(want.xmin, got.xmin);
  EXPECT_FLOAT_EQ(want.ymin, got.ymin);
  EXPECT_FLOAT_EQ(want.xmax, got.xmax);
  EXPECT_FLOAT_EQ(want.ymax, got.ymax);
}

TEST(Box, OverlapIsIntersectionByUnion) {
  const Box a = {0.2f, 0.3f, 0.3f, 0.5f}, b = {0.1f, 0.1f, 0.3f, 0.4f};
  EXPECT_NEAR(1.0 / 7, Overlap(a, b), 1e-6);  // 0.01 / (0.02 + 0.06 - 0.01)
  EXPECT_NEAR(0.5, Coverage(a, b), 1e-6);
  EXPECT_FLOAT_EQ(1, Overlap(a, a));
}

TEST(Box, BoxesApartHaveNothingInCommon) {
  const Box a = {0.0f, 0.0f, 0.2f, 0.2f}, b = {0.5f, 0.6f, 0.9f, 0.9f};
  EXPECT_EQ(0, Area(Intersection(a, b)));
  EXPECT_EQ(0, Overlap(a, b));
  EXPECT_EQ(0, Coverage(a, b));
}

TEST(Box, AnEmptyBoxHasNoAreaAndDividesNothing) {
  const Box empty = {0.5f, 0.5f, 0.4f, 0.4f};
  EXPECT_EQ(0, Area(empty));
  EXPECT_EQ(0, Overlap(empty, empty));
  EXPECT_EQ(0, Coverage(empty, {0, 0, 1, 1}));
}

TEST(Box, ClipKeepsWhatLiesInThePicture) {
  ExpectBox({0, 0.25f, 1, 0.5f}, Clip({-0.5f, 0.25f, 1.5f, 0.5f}));
}

TEST(Box, RelativeAndAbsoluteAreInverse) {
  const Box part = {0.25f, 0.5f, 0.75f, 1}, box = {0.5f, 0.5f, 0.75f, 0.625f};
  ExpectBox({0.5f, 0, 1, 0.25f}, Relative(box, part));
  ExpectBox(box, Absolute({0.5f, 0, 1, 0.25f}, part));
}

}  // namespace
}  // namespace moka
