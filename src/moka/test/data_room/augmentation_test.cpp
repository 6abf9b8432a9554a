#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "moka/base/atomic_file.hpp"
#include "moka/test/data_room/helpers.hpp"
#include "moka/test/data_room/pictures.hpp"

// Sizes and places that forks of Caffe give to pictures: right values by hand where nothing is
// random, else ranges.

namespace moka {
namespace {

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
