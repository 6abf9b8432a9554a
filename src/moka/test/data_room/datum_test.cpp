#include "moka/data/datum.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

/// A Datum with a picture of the given OpenCV type in it, all pixels of one value.
Datum EncodedDatum(const std::string& extension, int type, const cv::Scalar& value) {
  std::vector<uchar> bytes;
  cv::imencode(extension, cv::Mat(2, 3, type, value), bytes);
  Datum datum;
  datum.set_encoded(true);
  datum.set_data(bytes.data(), bytes.size());
  return datum;
}

std::string DecodingError(const Datum& datum) {
  return ErrorOf([&] { DatumDecoder().Decode(datum.SerializeAsString()); });
}

TEST(DatumDecoderTest, RawBytesAndFloatsKeepTheirOrder) {
  DatumDecoder decoder(ColorMode::kColor);
  Datum datum = CountingDatum(2, 3, 4, 10, 7);
  const Pixels bytes = decoder.Decode(datum.SerializeAsString());
  EXPECT_EQ(decoder.label(), 7);
  EXPECT_EQ(bytes.channels, 2);
  EXPECT_EQ(bytes.height, 3);
  EXPECT_EQ(bytes.width, 4);
  EXPECT_EQ(bytes.bytes[bytes.channel_stride + 2 * bytes.row_stride + 3 * bytes.pixel_stride],
            10 + 12 + 8 + 3);
  datum.clear_data();
  for (int i = 0; i < 24; ++i) datum.add_float_data(0.5f * i);
  const Pixels floats = decoder.Decode(datum.SerializeAsString());
  EXPECT_EQ(floats.bytes, nullptr);
  EXPECT_EQ(floats.floats[floats.channel_stride + floats.row_stride], 8.0f);
}

// Without force the channels are those of the file: 1, 3 (B, G, R) and 4 with alpha.
TEST(DatumDecoderTest, EncodedPicturesKeepTheirChannelsUnlessForced) {
  const std::vector<int> types = {CV_8UC1, CV_8UC3, CV_8UC4};
  for (const int type : types) {
    const std::string record =
        EncodedDatum(".png", type, cv::Scalar(50, 50, 50, 255)).SerializeAsString();
    for (const auto& [mode, channels] :
         {std::pair(ColorMode::kNative, CV_MAT_CN(type)), std::pair(ColorMode::kColor, 3),
          std::pair(ColorMode::kGray, 1)}) {
      DatumDecoder decoder(mode);
      const Pixels pixels = decoder.Decode(record);
      EXPECT_EQ(pixels.channels, channels);
      EXPECT_EQ(pixels.height, 2);
      EXPECT_EQ(pixels.width, 3);
      EXPECT_EQ(pixels.bytes[0], 50);
    }
  }
}

TEST(DatumDecoderTest, ColoursAreBlueGreenRed) {
  DatumDecoder decoder;
  const Datum datum = EncodedDatum(".png", CV_8UC3, cv::Scalar(1, 2, 3));
  const Pixels pixels = decoder.Decode(datum.SerializeAsString());
  for (int c = 0; c < 3; ++c) EXPECT_EQ(pixels.bytes[c * pixels.channel_stride], c + 1);
}

TEST(DatumDecoderTest, WhatIsNoDatumIsAnError) {
  ExpectParts(ErrorOf([] { DatumDecoder().Decode("\xff\xff\xff"); }), {"is no Datum (3 bytes)"});
}

TEST(DatumDecoderTest, ValuesThatDoNotFitTheShapeAreAnError) {
  Datum datum = CountingDatum(3, 4, 5, 0, 0);
  datum.mutable_data()->pop_back();
  ExpectParts(DecodingError(datum), {"59 bytes", "3 x 4 x 5"});
  datum.clear_data();
  datum.add_float_data(1);
  ExpectParts(DecodingError(datum), {"1 floats", "3 x 4 x 5"});
  ExpectParts(DecodingError(Datum()), {"0 floats", "0 x 0 x 0"});
  Datum huge = CountingDatum(1, 1, 1, 0, 0);
  huge.set_channels(1 << 30);
  huge.set_height(1 << 30);
  huge.set_width(1 << 30);
  ExpectParts(DecodingError(huge), {"1 bytes", "1073741824 x 1073741824 x 1073741824"});
}

TEST(DatumDecoderTest, PicturesThatCannotBeDecodedAreErrors) {
  Datum datum = EncodedDatum(".png", CV_8UC3, cv::Scalar());
  datum.set_data(datum.data().substr(0, 20));
  ExpectParts(DecodingError(datum), {"cannot be decoded"});
  datum.set_data("this is no picture");
  ExpectParts(DecodingError(datum), {"cannot be decoded"});
  datum.clear_data();
  ExpectParts(DecodingError(datum), {"cannot be decoded (0 bytes)"});
  ExpectParts(DecodingError(EncodedDatum(".png", CV_16UC1, cv::Scalar())), {"more than 8 bits"});
}

}  // namespace
}  // namespace moka
