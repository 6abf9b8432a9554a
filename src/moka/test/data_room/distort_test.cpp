#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "moka/test/data_room/helpers.hpp"
#include "moka/test/data_room/pictures.hpp"

// Colours of pictures as forks of Caffe change them: right values by hand where nothing is random,
// else ranges.

namespace moka {
namespace {

TEST(Distort, BrightnessShiftsAllValuesAlike) {
  const Picture in = Flat(1, 1, 100, 110, 120);
  float least = 999, most = -999;
  for (int record = 0; record < 300; ++record) {
    const std::vector<float> out =
        Apply("distort_param { brightness_prob: 1 brightness_delta: 32 }", in, record);
    EXPECT_EQ(10, out[1] - out[0]);
    EXPECT_EQ(20, out[2] - out[0]);
    least = std::min(least, out[0] - 100);
    most = std::max(most, out[0] - 100);
  }
  EXPECT_GE(least, -32);
  EXPECT_LT(least, -28);
  EXPECT_LE(most, 32);
  EXPECT_GT(most, 28);
}

TEST(Distort, ContrastMultipliesAndStaysWithinBytes) {
  EXPECT_EQ((std::vector<float>{20, 200, 255}),
            Apply("distort_param { contrast_prob: 1 contrast_lower: 2 contrast_upper: 2 }",
                  Flat(1, 1, 10, 100, 200)));
}

// Saturation 0 leaves the largest of the three values, the V of HSV.
TEST(Distort, SaturationZeroIsGrey) {
  EXPECT_EQ((std::vector<float>{200, 200, 200}),
            Apply("distort_param { saturation_prob: 1 saturation_lower: 0 saturation_upper: 1e-7 }",
                  Flat(1, 1, 10, 100, 200)));
}

// Turning red (hue 0) by up to 10 of 180 gives a little green or, backwards, a little blue.
TEST(Distort, HueTurnsBothWays) {
  int green = 0, blue = 0;
  for (int record = 0; record < 100; ++record) {
    const std::vector<float> out =
        Apply("distort_param { hue_prob: 1 hue_delta: 10 }", Flat(1, 1, 0, 0, 255), record);
    EXPECT_EQ(255, out[2]);
    EXPECT_LE(std::max(out[0], out[1]), 86);  // 255 * 10 / 30 and rounding
    green += out[1] > 0;
    blue += out[0] > 0;
  }
  EXPECT_GT(green, 30);
  EXPECT_GT(blue, 30);
}

TEST(Distort, ChannelsAreShuffledInAllOrders) {
  std::set<std::vector<float>> orders;
  for (int record = 0; record < 100; ++record) {
    orders.insert(Apply("distort_param { random_order_prob: 1 }", Flat(1, 1, 1, 2, 3), record));
  }
  EXPECT_EQ(6u, orders.size());
}

TEST(Distort, EachChangeHasItsProbability) {
  int changed = 0;
  for (int record = 0; record < 1000; ++record) {
    changed += Apply("distort_param { contrast_prob: 0.25 contrast_lower: 2 contrast_upper: 2 }",
                     Flat(1, 1, 50, 50, 50), record)[0] == 100;
  }
  EXPECT_NEAR(250, changed, 70);  // five standard deviations
}

TEST(Distort, DeepDetectsOneProbabilityServesWhatIsSwitchedOn) {
  const Picture in = Flat(1, 1, 50, 50, 50);
  EXPECT_EQ((std::vector<float>{100, 100, 100}),
            Apply("distort_param { prob: 1 contrast: true contrast_lower: 2 contrast_upper: 2 "
                  "brightness_delta: 20 }",
                  in));
  EXPECT_EQ((std::vector<float>{50, 50, 50}),
            Apply("distort_param { prob: 1 contrast_lower: 2 contrast_upper: 2 }", in));
}

// A grey picture has neither hue nor saturation.
TEST(Distort, GreyPicturesKeepTheirOneChannel) {
  const Picture in(1, 2, 1, [](int, int x, int) { return 10 + x; });
  EXPECT_EQ((std::vector<float>{20, 22}),
            Apply("distort_param { contrast_prob: 1 contrast_lower: 2 contrast_upper: 2 "
                  "saturation_prob: 1 saturation_lower: 0 saturation_upper: 1 hue_prob: 1 }",
                  in));
}

TEST(Noise, InverseAndPosterizeFollowTheirFormulas) {
  const Picture in(1, 4, 1, [](int, int x, int) { return 70 * x; });
  EXPECT_EQ((std::vector<float>{255, 185, 115, 45}),
            Apply("noise_param { prob: 1 inverse: true }", in));
  EXPECT_EQ((std::vector<float>{32, 96, 160, 224}),
            Apply("noise_param { prob: 1 posterize: true }", in));
}

// Grey of a colour is 0.299 red + 0.587 green + 0.114 blue.
TEST(Noise, DecolorizeWeighsTheChannels) {
  EXPECT_EQ((std::vector<float>{113, 113, 113}),
            Apply("noise_param { prob: 1 decolorize: true }", Flat(1, 1, 50, 100, 162)));
}

TEST(Noise, ErodeTakesTheLeastOfNineAndBlurKeepsFlatAreas) {
  const Picture spot(5, 5, 1, [](int y, int x, int) { return y == 2 && x == 2 ? 10 : 90; });
  const std::vector<float> eroded = Apply("noise_param { prob: 1 erode: true }", spot);
  EXPECT_EQ(9, std::count(eroded.begin(), eroded.end(), 10.0f));
  EXPECT_EQ(std::vector<float>(12, 77),
            Apply("noise_param { prob: 1 gauss_blur: true }", Flat(2, 2, 77, 77, 77)));
}

TEST(Noise, SaltAndPepperReplaceAShareOfThePixels) {
  const std::vector<float> out = Apply(
      "noise_param { prob: 1 saltpepper: true saltpepper_param { fraction: 0.1 value: 255 } }",
      Flat(30, 30, 5, 5, 5));
  const auto salted = std::count(out.begin(), out.begin() + 900, 255.0f);
  EXPECT_GT(salted, 60);
  EXPECT_LE(salted, 90);  // a pixel may be hit twice
  EXPECT_EQ(salted, std::count(out.begin() + 900, out.begin() + 1800, 255.0f));
}

TEST(Noise, AllEffectsSwitchesOnAllKindsWithTheProbability) {
  const Picture in(16, 16, 3, [](int y, int x, int c) { return (y * 13 + x * 7 + c * 90) % 256; });
  const std::vector<float> plain = Apply("", in);
  int changed = 0;
  for (int record = 0; record < 300; ++record) {
    changed += Apply("noise_param { prob: 0.02 all_effects: true }", in, record) != plain;
  }
  // Nine kinds change the picture: 1 - 0.98^9 = 0.166 of 300, give or take five deviations.
  EXPECT_NEAR(50, changed, 33);
}

TEST(Adjust, ContrastBrightnessAndColorStayInTheirRanges) {
  for (int record = 0; record < 100; ++record) {
    const std::vector<float> out = Apply(
        "contrast_brightness_adjustment: true min_contrast: 0.9 max_contrast: 1.1 "
        "max_brightness_shift: 5 max_color_shift: 3 apply_probability: 1",
        Flat(1, 1, 100, 100, 100), record);
    for (const float value : out) {
      EXPECT_GE(value, 81);
      EXPECT_LE(value, 119);
    }
    EXPECT_LE(std::abs(out[0] - out[1]), 7);
  }
  EXPECT_EQ((Shape3{3, 8, 16}), Make("min_side: 8").OutputShape(Flat(4, 8, 1, 1, 1).pixels()));
}

TEST(Adjust, RotatesAroundTheMiddle) {
  const Picture in(21, 21, 1, [](int y, int x, int) { return y == 10 && x >= 10 ? 200 : 0; });
  std::set<std::vector<float>> seen;
  for (int record = 0; record < 20; ++record) {
    const std::vector<float> out = Apply("max_rotation_angle: 30 apply_probability: 1", in, record);
    EXPECT_GT(out[10 * 21 + 10], 120);  // the middle stays
    EXPECT_EQ(0, out[10 * 21]);         // the other half is empty
    seen.insert(out);
  }
  EXPECT_GT(seen.size(), 15u);
}

}  // namespace
}  // namespace moka
