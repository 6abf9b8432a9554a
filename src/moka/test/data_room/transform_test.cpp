#include "moka/data/transform.hpp"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "moka/base/atomic_file.hpp"
#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

TransformationParameter Param(const std::string& text) {
  TransformationParameter param;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &param));
  return param;
}

Transform MakeTransform(const std::string& text, Phase phase = TEST, uint64_t seed = 1,
                        uint64_t reader = 2) {
  return Transform(Param(text), phase, seed, reader);
}

/// An image with a pixel value for each place, as it lies in a raw record (planes) or as it comes
/// from a decoder (interleaved channels, rows with padding).
class Image {
 public:
  Image(int64_t channels, int64_t height, int64_t width, bool interleaved = false) {
    pixels_.channels = channels;
    pixels_.height = height;
    pixels_.width = width;
    pixels_.pixel_stride = interleaved ? channels : 1;
    pixels_.row_stride = interleaved ? channels * width + 5 : width;
    pixels_.channel_stride = interleaved ? 1 : height * width;
    bytes_.resize(height * channels * width + 5 * height);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x) {
          bytes_[c * pixels_.channel_stride + y * pixels_.row_stride + x * pixels_.pixel_stride] =
              ValueAt(c, y, x);
        }
      }
    }
    pixels_.bytes = bytes_.data();
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  static uint8_t ValueAt(int64_t c, int64_t y, int64_t x) {
    return (c * 71 + y * 13 + x * 3) % 256;
  }
  const Pixels& pixels() const { return pixels_; }

 private:
  Pixels pixels_;
  std::vector<uint8_t> bytes_;
};

std::vector<float> Apply(const Transform& transform, const Pixels& pixels, int64_t epoch = 0,
                         int64_t record = 0) {
  const std::vector<int64_t> shape = transform.OutputShape(pixels);
  // A guard behind the values: nothing may be written there.
  std::vector<float> out(shape[0] * shape[1] * shape[2] + 1, -1);
  transform.Apply(pixels, epoch, record, out.data());
  EXPECT_EQ(out.back(), -1);
  out.pop_back();
  return out;
}

/// The formula, value by value.
std::vector<float> Expected(int64_t channels, int64_t top, int64_t left, int64_t height,
                            int64_t width, bool mirrored,
                            const std::function<float(int64_t, int64_t, int64_t)>& mean,
                            float scale) {
  std::vector<float> values;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = top; y < top + height; ++y) {
      for (int64_t i = 0; i < width; ++i) {
        const int64_t x = left + (mirrored ? width - 1 - i : i);
        values.push_back((Image::ValueAt(c, y, x) - mean(c, y, x)) * scale);
      }
    }
  }
  return values;
}

float NoMean(int64_t, int64_t, int64_t) { return 0; }

// Widths below and above a vector register, with the three strides that are told apart.
TEST(TransformTest, CentreCropMeanAndScaleFollowTheFormula) {
  for (const int64_t channels : {1, 3, 4}) {
    for (const bool interleaved : {false, true}) {
      for (const int64_t crop : {1, 7, 8, 33}) {
        const Image image(channels, 40, 38, interleaved);
        const Transform transform =
            MakeTransform("scale: 0.25 mean_value: 10.5 crop_size: " + std::to_string(crop));
        const auto mean = [](int64_t, int64_t, int64_t) { return 10.5f; };
        EXPECT_EQ(
            Apply(transform, image.pixels()),
            Expected(channels, (40 - crop) / 2, (38 - crop) / 2, crop, crop, false, mean, 0.25f));
      }
    }
  }
}

TEST(TransformTest, MeanValuesCanBeOneAChannel) {
  const Image image(3, 5, 4);
  const auto mean = [](int64_t c, int64_t, int64_t) { return 100.0f + c; };
  EXPECT_EQ(Apply(MakeTransform("mean_value: 100 mean_value: 101 mean_value: 102"), image.pixels()),
            Expected(3, 0, 0, 5, 4, false, mean, 1));
}

TEST(TransformTest, CropsCanHaveTwoSizes) {
  const Image image(1, 9, 9);
  EXPECT_EQ(MakeTransform("crop_h: 4 crop_w: 5").OutputShape(image.pixels()),
            (std::vector<int64_t>{1, 4, 5}));
  EXPECT_EQ(Apply(MakeTransform("crop_h: 4 crop_w: 5"), image.pixels()),
            Expected(1, 2, 2, 4, 5, false, NoMean, 1));
}

TEST(TransformTest, FloatsAreTransformedAsBytesAre) {
  const Image image(2, 6, 9);
  std::vector<float> floats(image.pixels().bytes, image.pixels().bytes + 2 * 6 * 9);
  Pixels pixels = image.pixels();
  pixels.bytes = nullptr;
  pixels.floats = floats.data();
  const Transform transform = MakeTransform("scale: 2 crop_size: 5 mean_value: 3 mirror: true");
  EXPECT_EQ(Apply(transform, pixels), Apply(transform, image.pixels()));
}

/// Writes a mean whose value is that of the pixel plus 1, in one of the two ways to give a shape.
std::string WriteMean(const std::string& path, int channels, int height, int width, bool legacy) {
  BlobProto mean;
  if (legacy) {
    mean.set_num(1);
    mean.set_channels(channels);
    mean.set_height(height);
    mean.set_width(width);
  } else {
    for (const int size : {channels, height, width}) mean.mutable_shape()->add_dim(size);
  }
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) mean.add_data(Image::ValueAt(c, y, x) + 1);
    }
  }
  WriteFileAtomically(path, mean.SerializeAsString());
  return "mean_file: \"" + path + "\"";
}

// The mean of a pixel stays with its pixel under cropping and mirroring: all results are -1.
TEST(TransformTest, TheMeanImageMovesWithTheImage) {
  const TemporaryFolder folder;
  for (const bool legacy : {false, true}) {
    const std::string mean = WriteMean(folder / "mean", 3, 12, 10, legacy);
    const Image image(3, 12, 10, true);
    const Transform transform = MakeTransform(mean + " crop_size: 7 mirror: true", TRAIN);
    for (int64_t record = 0; record < 20; ++record) {
      EXPECT_EQ(Apply(transform, image.pixels(), 0, record), std::vector<float>(3 * 49, -1.0f));
    }
  }
}

/// Where a random crop of a 1-channel image stands: its top, its left, and whether it is mirrored.
std::array<int64_t, 3> PlaceOf(const std::vector<float>& crop, int64_t size, int64_t height,
                               int64_t width) {
  for (int64_t top = 0; top + size <= height; ++top) {
    for (int64_t left = 0; left + size <= width; ++left) {
      for (const bool mirrored : {false, true}) {
        if (crop == Expected(1, top, left, size, size, mirrored, NoMean, 1)) {
          return {top, left, mirrored};
        }
      }
    }
  }
  ADD_FAILURE() << "a crop that is no part of the image";
  return {};
}

// All 3 x 2 places, mirrored and not, about equally often: each 1/12 of 2,400, give or take 5
// standard deviations of 13.5.
TEST(TransformTest, TrainingCropsStandAnywhereAndAreMirroredInHalfOfTheCases) {
  const Image image(1, 7, 6);
  const Transform transform = MakeTransform("crop_size: 5 mirror: true", TRAIN);
  std::map<std::array<int64_t, 3>, int> times;
  for (int64_t record = 0; record < 2400; ++record) {
    ++times[PlaceOf(Apply(transform, image.pixels(), 3, record), 5, 7, 6)];
  }
  EXPECT_EQ(times.size(), 12u);
  for (const auto& [place, n] : times) EXPECT_NEAR(n, 200, 68);
}

// promise 25: the same record in the same epoch gives the same pixels.
TEST(TransformTest, ChoicesDependOnSeedReaderEpochAndRecordOnly) {
  const Image image(1, 30, 30);
  const std::string text = "crop_size: 5 mirror: true";
  const auto apply = [&](uint64_t seed, uint64_t reader, int64_t epoch, int64_t record) {
    return Apply(MakeTransform(text, TRAIN, seed, reader), image.pixels(), epoch, record);
  };
  EXPECT_EQ(apply(1, 1, 5, 9), apply(1, 1, 5, 9));
  const std::set<std::vector<float>> crops = {apply(1, 1, 5, 9), apply(2, 1, 5, 9),
                                              apply(1, 2, 5, 9), apply(1, 1, 6, 9),
                                              apply(1, 1, 5, 8)};
  EXPECT_EQ(crops.size(), 5u);
}

TEST(TransformTest, AContradictionIsAnError) {
  const auto error = [](const std::string& text) { return ErrorOf([&] { MakeTransform(text); }); };
  ExpectParts(error("force_color: true force_gray: true"), {"force_color", "force_gray"});
  ExpectParts(error("mean_file: \"m\" mean_value: 1"), {"mean_file", "mean_value"});
  ExpectParts(error("crop_size: 3 crop_h: 4 crop_w: 4"), {"crop_size", "crop_h"});
  ExpectParts(error("crop_h: 4"), {"crop_h", "crop_w"});
}

TEST(TransformTest, ACropLargerThanTheImageIsAnError) {
  const Image image(1, 9, 12);
  ExpectParts(ErrorOf([&] { MakeTransform("crop_size: 10").OutputShape(image.pixels()); }),
              {"10 x 10", "9 x 12"});
}

TEST(TransformTest, MeanValuesOfAnotherNumberThanChannelsAreAnError) {
  const Image image(3, 9, 12);
  ExpectParts(
      ErrorOf([&] { MakeTransform("mean_value: 1 mean_value: 2").OutputShape(image.pixels()); }),
      {"2 values mean_value", "3 channels"});
}

// promise 14: both shapes are named, and mean_value is the way out.
TEST(TransformTest, AMeanOfAnotherSizeIsAnErrorThatNamesBothShapes) {
  const TemporaryFolder folder;
  const std::string mean = WriteMean(folder / "mean", 3, 8, 8, true);
  const Image image(3, 9, 12);
  ExpectParts(ErrorOf([&] { MakeTransform(mean + " crop_size: 8").OutputShape(image.pixels()); }),
              {folder / "mean", "3 x 8 x 8", "3 x 9 x 12", "mean_value"});
}

TEST(TransformTest, AMeanFileThatIsMissingOrNoMeanIsAnError) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& name) {
    return ErrorOf([&] { MakeTransform("mean_file: \"" + (folder / name) + "\""); });
  };
  ExpectParts(error("none"), {folder / "none", "No such file", "mean_value"});
  WriteFileAtomically(folder / "text", "this is no mean");
  ExpectParts(error("text"), {folder / "text", "is no mean image"});
  BlobProto blob;
  blob.mutable_shape()->add_dim(4);
  blob.add_data(1);
  WriteFileAtomically(folder / "short", blob.SerializeAsString());
  ExpectParts(error("short"), {folder / "short", "holds 1 values of shape 4"});
}

}  // namespace
}  // namespace moka
