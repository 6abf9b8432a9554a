#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "moka/base/atomic_file.hpp"
#include "moka/data/transform.hpp"
#include "moka/test/data_room/helpers.hpp"

// What forks of Caffe do to pictures: right values by hand where nothing is random, else ranges.

namespace moka {
namespace {

/// A picture of interleaved bytes, made by a function of (row, column, channel).
class Picture {
 public:
  using Value = std::function<int(int, int, int)>;

  Picture(int height, int width, int channels, const Value& value) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < channels; ++c) bytes_.push_back(static_cast<uint8_t>(value(y, x, c)));
      }
    }
    pixels_.channels = pixels_.pixel_stride = channels;
    pixels_.height = height;
    pixels_.width = width;
    pixels_.channel_stride = 1;
    pixels_.row_stride = width * channels;
    pixels_.bytes = bytes_.data();
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  const Pixels& pixels() const { return pixels_; }

 private:
  Pixels pixels_;
  std::vector<uint8_t> bytes_;
};

Picture Flat(int height, int width, int blue, int green, int red) {
  const int color[] = {blue, green, red};
  return Picture(height, width, 3, [&](int, int, int c) { return color[c]; });
}

Transform Make(const std::string& text, Phase phase = TRAIN) {
  TransformationParameter param;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &param)) << text;
  return Transform(param, phase, 1, 2);
}

std::vector<float> Apply(const Transform& transform, const Pixels& in, int64_t record = 0) {
  const std::vector<int64_t> shape = transform.OutputShape(in);
  // A guard behind the values: nothing may be written there.
  std::vector<float> out(shape[0] * shape[1] * shape[2] + 1, -1);
  transform.Apply(in, 0, record, out.data());
  EXPECT_EQ(-1, out.back());
  out.pop_back();
  return out;
}

std::vector<float> Apply(const std::string& text, const Picture& in, int64_t record = 0,
                         Phase phase = TRAIN) {
  return Apply(Make(text, phase), in.pixels(), record);
}

using Shape3 = std::vector<int64_t>;

int Ramp(int y, int x, int c) { return y * 16 + x * 4 + c; }

TEST(Resize, WarpsToTheSizeInBothPhases) {
  const Picture in(2, 2, 1, [](int y, int x, int) { return 100 * y + 40 * x; });
  for (const Phase phase : {TRAIN, TEST}) {
    EXPECT_EQ(
        (std::vector<float>{0, 0, 40, 40, 0, 0, 40, 40, 100, 100, 140, 140, 100, 100, 140, 140}),
        Apply("resize_param { height: 4 width: 4 interp_mode: NEAREST }", in, 0, phase));
  }
  // The centres of 4 pixels lie at -0.25, 0.25, 0.75 and 1.25 of the old ones.
  EXPECT_EQ((std::vector<float>{0, 10, 30, 40}),
            Apply("resize_param { height: 1 width: 4 }",
                  Picture(1, 2, 1, [](int, int x, int) { return 40 * x; })));
}

TEST(Resize, AreaTakesTheMeanOfWhatIsCovered) {
  const Picture in(2, 4, 1, [](int y, int x, int) { return 80 * y + 20 * x; });
  EXPECT_EQ((std::vector<float>{50, 90}),
            Apply("resize_param { height: 1 width: 2 interp_mode: AREA }", in));
}

TEST(Resize, KeepsTheAspectRatioAndPadsInTheMiddle) {
  const Picture in(2, 4, 1, [](int y, int x, int) { return 10 * y + x + 1; });
  const std::string fit = "resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 5 width: 4 ";
  EXPECT_EQ((std::vector<float>{7, 7, 7, 7, 1, 2, 3, 4, 11, 12, 13, 14, 7, 7, 7, 7, 7, 7, 7, 7}),
            Apply(fit + "pad_value: 7 }", in));
  EXPECT_EQ(
      (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 11, 12, 13, 14, 11, 12, 13, 14, 11, 12, 13, 14}),
      Apply(fit + "pad_mode: REPEAT_NEAREST }", in));
  EXPECT_EQ(
      (std::vector<float>{11, 12, 13, 14, 1, 2, 3, 4, 11, 12, 13, 14, 1, 2, 3, 4, 11, 12, 13, 14}),
      Apply(fit + "pad_mode: MIRRORED }", in));
}

TEST(Resize, TheShorterSideIsFittedWithFitSmallSize) {
  const Picture in(10, 20, 3, Ramp);
  const std::string mode = "resize_param { resize_mode: FIT_SMALL_SIZE ";
  EXPECT_EQ((Shape3{3, 30, 60}), Make(mode + "height: 30 width: 30 }").OutputShape(in.pixels()));
  EXPECT_EQ((Shape3{3, 50, 100}), Make(mode + "height: 30 width: 100 }").OutputShape(in.pixels()));
  EXPECT_EQ((Shape3{3, 20, 40}),
            Make(mode + "height: 9 width: 9 height_scale: 20 width_scale: 20 }")
                .OutputShape(in.pixels()));
}

// The mean image has the size that pictures are resized to.
TEST(Resize, ComesBeforeMeanAndCrop) {
  const TemporaryFolder folder;
  BlobProto mean;
  for (const int size : {1, 4, 4}) mean.mutable_shape()->add_dim(size);
  for (int i = 0; i < 16; ++i) mean.add_data(i);
  WriteFileAtomically(folder / "mean", mean.SerializeAsString());
  const Picture in(2, 2, 1, [](int, int, int) { return 100; });
  EXPECT_EQ((std::vector<float>{95, 94, 91, 90}),
            Apply("crop_size: 2 resize_param { height: 4 width: 4 } mean_file: '" +
                      (folder / "mean") + "'",
                  in, 0, TEST));
}

TEST(Resize, PicksOneOfTheInterpolationsForEachRecord) {
  const Picture in(7, 7, 1, [](int y, int x, int) { return (y * 89 + x * 53) % 256; });
  const Transform transform = Make(
      "resize_param { height: 11 width: 11 interp_mode: LINEAR interp_mode: NEAREST "
      "interp_mode: CUBIC }");
  std::set<std::vector<float>> seen;
  for (int record = 0; record < 40; ++record) seen.insert(Apply(transform, in.pixels(), record));
  EXPECT_EQ(3u, seen.size());
}

// promise 25: the same record in the same epoch looks the same, other records differ.
TEST(Augmentation, DependsOnTheRecordOnly) {
  const Picture in(20, 30, 3, Ramp);
  const std::string text =
      "mirror: true mean_value: 100 resize_param { height: 9 width: 9 } "
      "distort_param { brightness_prob: 0.5 brightness_delta: 32 contrast_prob: 0.5 "
      "contrast_lower: 0.5 contrast_upper: 1.5 hue_prob: 0.5 hue_delta: 18 saturation_prob: 0.5 "
      "saturation_lower: 0.5 saturation_upper: 1.5 random_order_prob: 0.5 } "
      "expand_param { prob: 0.5 max_expand_ratio: 4 } noise_param { prob: 0.2 all_effects: true }";
  std::set<std::vector<float>> seen;
  for (int record = 0; record < 20; ++record) {
    const std::vector<float> values = Apply(text, in, record);
    EXPECT_EQ(values, Apply(text, in, record));
    seen.insert(values);
  }
  EXPECT_EQ(20u, seen.size());
  EXPECT_EQ(Apply(text, in, 0, TEST), Apply(text, in, 0, TEST));
  const std::string plain = "mirror: true mean_value: 100 resize_param { height: 9 width: 9 }";
  EXPECT_EQ(Apply(plain, in, 3, TEST), Apply(text, in, 3, TEST)) << "random changes in TEST";
}

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

// What is not the mean is a whole copy of the picture, anywhere.
TEST(Expand, PutsThePictureIntoALargerOneOfTheMean) {
  const Picture in(10, 10, 1, [](int, int, int) { return 200; });
  std::set<int> sides;
  for (int record = 0; record < 200; ++record) {
    const std::vector<float> out = Apply(
        "mean_value: 50 expand_param { prob: 1 max_expand_ratio: 4 } "
        "resize_param { height: 120 width: 120 interp_mode: NEAREST }",
        in, record);
    const auto inside = std::count(out.begin(), out.end(), 150.0f);
    EXPECT_EQ(14400, inside + std::count(out.begin(), out.end(), 0.0f));
    sides.insert(static_cast<int>(std::lround(std::sqrt(static_cast<double>(inside)))));
  }
  EXPECT_NEAR(30, *sides.begin(), 3);  // a fourth of 120
  EXPECT_GT(*sides.rbegin(), 110);
}

TEST(Expand, NeedsSomethingThatMakesSizesAlike) {
  ExpectParts(ErrorOf([] { Make("expand_param { max_expand_ratio: 2 }"); }),
              {"size", "random", "resize_param"});
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

TEST(SizeChange, TheShorterSideGetsARandomLength) {
  // Without the crop's place the picture tells its own size: a ramp from 0 to 240.
  const Picture in(60, 121, 1, [](int, int x, int) { return 2 * x; });
  const Transform transform = Make(
      "img_rand_resize_lower: 20 img_rand_resize_upper: 40 interpolation_algo_down: INTER_LINEAR "
      "crop_size: 16");
  std::set<int> steps;
  for (int record = 0; record < 100; ++record) {
    const std::vector<float> out = Apply(transform, in.pixels(), record);
    steps.insert(static_cast<int>(std::lround((out[15] - out[0]) / 1.5f)));  // a tenth a pixel
  }
  EXPECT_NEAR(30, *steps.begin(), 2);   // 60 / 40 * 2
  EXPECT_NEAR(60, *steps.rbegin(), 3);  // 60 / 20 * 2
}

TEST(SizeChange, StretchesBothSidesByThemselvesAndCoversTheCrop) {
  const Picture in(10, 10, 1, [](int y, int x, int) { return 10 * y + 10 * x; });
  const Transform transform = Make(
      "vertical_stretch_lower: 2 vertical_stretch_upper: 2 horizontal_stretch_lower: 0.5 "
      "horizontal_stretch_upper: 0.5 interpolation_algo_up: INTER_NEAREST crop_h: 20 crop_w: 8");
  const std::vector<float> out = Apply(transform, in.pixels());
  EXPECT_EQ(out[0], out[8]);  // each row twice
  EXPECT_EQ(out[0] + 10, out[2 * 8]);
  EXPECT_EQ(90, out[19 * 8] - out[0]);
  // 5 columns would not cover the crop: 8 do, the last of which is the old column 7 * 10 / 8.
  EXPECT_EQ(80, out[7] - out[0]);
}

TEST(SizeChange, EnlargesToTheCropWhereThatIsAllowed) {
  const Picture in(5, 10, 3, Ramp);
  ExpectParts(ErrorOf([&] { Make("crop_size: 8").OutputShape(in.pixels()); }), {"8 x 8", "5 x 10"});
  EXPECT_EQ((Shape3{3, 8, 8}), Make("crop_size: 8 allow_upscale: true").OutputShape(in.pixels()));
  EXPECT_EQ(192u, Apply("crop_size: 8 allow_upscale: true", in).size());
}

TEST(SizeChange, IntelsRandomResizeAndAspectRatioGiveTheCrop) {
  const Picture in(40, 50, 3, [](int y, int x, int c) { return c == 0 ? y * 6 : x * 5; });
  for (const char* text :
       {"crop_size: 24 random_resize_param { min_size: 24 max_size: 40 }",
        "crop_size: 24 random_aspect_ratio_param { min_area_ratio: 0.1 aspect_ratio_change: 1.33 "
        "resize_param { interp_mode: CUBIC } }"}) {
    std::set<std::vector<float>> seen;
    for (int record = 0; record < 20; ++record) {
      seen.insert(Apply(text, in, record));
      EXPECT_EQ(3u * 24 * 24, seen.begin()->size());
    }
    EXPECT_EQ(20u, seen.size());
  }
  ExpectParts(ErrorOf([] { Make("random_aspect_ratio_param { }"); }), {"crop_size"});
}

// A part of area a and stretch s shows 1 / sqrt(a) of the ramp: its slope tells the area.
TEST(SizeChange, PartsHaveTheAreasThatAreAskedFor) {
  const Picture in(100, 100, 2, [](int y, int x, int c) { return 2 * (c == 0 ? y : x); });
  const Transform transform = Make(
      "crop_size: 50 random_aspect_ratio_param { min_area_ratio: 0.25 max_area_ratio: 0.5 "
      "aspect_ratio_change: 1.2 }");
  for (int record = 0; record < 100; ++record) {
    const std::vector<float> out = Apply(transform, in.pixels(), record);
    const float height = (out[45 * 50] - out[5 * 50]) / 80 * 50;
    const float width = (out[2500 + 45] - out[2500 + 5]) / 80 * 50;
    EXPECT_GT(height * width, 2500 * 0.93);
    EXPECT_LT(height * width, 5000 * 1.07);
    EXPECT_LT(std::max(height / width, width / height), 1.44 * 1.07);
  }
}

TEST(SizeChange, OfALargerMeanImageTheMiddleIsSubtracted) {
  const TemporaryFolder folder;
  BlobProto mean;
  for (const int size : {1, 4, 4}) mean.mutable_shape()->add_dim(size);
  for (int i = 0; i < 16; ++i) mean.add_data(i);
  WriteFileAtomically(folder / "mean", mean.SerializeAsString());
  const Picture in(9, 9, 1, [](int, int, int) { return 100; });
  EXPECT_EQ((std::vector<float>{95, 94, 91, 90}),
            Apply("crop_size: 2 img_rand_resize_lower: 5 img_rand_resize_upper: 7 mean_file: '" +
                      (folder / "mean") + "'",
                  in));
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

TEST(Augmentation, ContradictionsAreErrors) {
  const auto error = [](const std::string& text) { return ErrorOf([&] { Make(text); }); };
  ExpectParts(error("resize_param { height: 3 }"), {"resize_param", "width"});
  ExpectParts(error("distort_param { contrast_prob: 1 }"), {"contrast_upper"});
  ExpectParts(error("distort_param { contrast_lower: 2 contrast_upper: 1 }"),
              {"contrast", "2", "1"});
  ExpectParts(error("img_rand_resize_lower: 9 img_rand_resize_upper: 8 crop_size: 3"),
              {"img_rand_resize", "9", "8"});
  ExpectParts(error("img_rand_resize_lower: 8 img_rand_resize_upper: 9"), {"crop_size"});
  ExpectParts(error("expand_param { max_expand_ratio: 0.5 } crop_size: 2"), {"max_expand_ratio"});
  ExpectParts(error("noise_param { saltpepper_param { fraction: 2 } }"), {"fraction"});
}

TEST(Augmentation, ColorsOfFloatsAreAnError) {
  const std::vector<float> values = {1, 2, 3, 4};
  Pixels pixels;
  pixels.channels = 1;
  pixels.height = pixels.width = pixels.row_stride = 2;
  pixels.channel_stride = 4;
  pixels.floats = values.data();
  std::vector<float> out(4);
  ExpectParts(ErrorOf([&] {
                Make("distort_param { brightness_prob: 1 }").Apply(pixels, 0, 0, out.data());
              }),
              {"floats", "bytes"});
  EXPECT_EQ(16u, Apply(Make("resize_param { height: 4 width: 4 }"), pixels).size());
}

}  // namespace
}  // namespace moka
