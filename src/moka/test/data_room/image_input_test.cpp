#include "moka/data/image_input.hpp"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "moka/base/atomic_file.hpp"
#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

/// The bytes of a PNG file; of a picture whose pixels count up from `start`.
std::string CountingPng(int height, int width, int type, int start = 0) {
  cv::Mat picture(height, width, type);
  for (size_t i = 0; i < picture.total() * picture.channels(); ++i) {
    picture.data[i] = static_cast<uint8_t>(start + i);
  }
  std::vector<uint8_t> bytes;
  cv::imencode(".png", picture, bytes);
  return std::string(bytes.begin(), bytes.end());
}

std::vector<float> Decoded(const ImageInput& input, const std::string& bytes) {
  std::vector<float> values(input.channels() * input.height() * input.width());
  input.Decode(bytes, values.data());
  return values;
}

TEST(ImageInput, SubtractsTheMeanThenScalesBlueGreenRed) {
  TransformationParameter transform;
  transform.set_scale(0.5f);
  for (float mean : {0, 10, 20}) transform.add_mean_value(mean);
  const ImageInput input(3, 1, 2, transform);
  // Two pixels, (0, 1, 2) and (3, 4, 5) in the order blue, green, red.
  EXPECT_EQ(Decoded(input, CountingPng(1, 2, CV_8UC3)),
            (std::vector<float>{0, 1.5f, -4.5f, -3, -9, -7.5f}));
}

TEST(ImageInput, TakesColourForGreyAndGreyForColour) {
  const TransformationParameter plain;
  const cv::Mat colour(2, 2, CV_8UC3, cv::Scalar(100, 50, 200));
  std::vector<uint8_t> bytes;
  cv::imencode(".png", colour, bytes);
  const ImageInput grey(1, 2, 2, plain);
  // 0.114 blue + 0.587 green + 0.299 red = 100.55
  for (float value : Decoded(grey, {bytes.begin(), bytes.end()})) EXPECT_NEAR(value, 100.55, 0.6);
  const ImageInput in_colour(3, 1, 2, plain);
  EXPECT_EQ(Decoded(in_colour, CountingPng(1, 2, CV_8UC1, 7)),
            (std::vector<float>{7, 8, 7, 8, 7, 8}));
}

TEST(ImageInput, ResizesToTheNetsSizeWhateverTheProportions) {
  const cv::Mat uniform(7, 30, CV_8UC1, cv::Scalar(42));
  std::vector<uint8_t> bytes;
  cv::imencode(".png", uniform, bytes);
  const ImageInput input(1, 4, 4, TransformationParameter());
  EXPECT_EQ(Decoded(input, {bytes.begin(), bytes.end()}), std::vector<float>(16, 42));
}

class MeanImage {
 public:
  MeanImage(int64_t height, int64_t width) {
    BlobProto blob;
    for (int64_t dim : {int64_t{1}, int64_t{1}, height, width}) blob.mutable_shape()->add_dim(dim);
    for (int64_t i = 0; i < height * width; ++i) blob.add_data(static_cast<float>(i));
    WriteFileAtomically(folder_ / "mean.binaryproto", blob.SerializeAsString());
    transform.set_mean_file(folder_ / "mean.binaryproto");
  }
  TransformationParameter transform;

 private:
  TemporaryFolder folder_;
};

// Promise 43: a picture looks the same to the net as from a database of pictures of that size.
TEST(ImageInput, CropsAtTheCentreOfALargerMeanAsTheTestPhaseDoes) {
  MeanImage mean(4, 4);
  const ImageInput input(1, 2, 2, mean.transform);
  // The picture is its own mean, plus 5.
  EXPECT_EQ(Decoded(input, CountingPng(4, 4, CV_8UC1, 5)), std::vector<float>(4, 5));

  mean.transform.set_crop_size(2);
  const Transform test_phase(mean.transform, TEST, 1, 1);
  std::vector<uint8_t> bytes(16);
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<uint8_t>(3 * i + i % 5);
  Pixels pixels;
  pixels.channels = 1;
  pixels.height = pixels.width = pixels.row_stride = 4;
  pixels.channel_stride = 16;
  pixels.bytes = bytes.data();
  std::vector<float> expected(4);
  test_phase.Apply(pixels, 0, 0, expected.data());
  std::vector<uint8_t> png;
  cv::imencode(".png", cv::Mat(4, 4, CV_8UC1, bytes.data()), png);
  EXPECT_EQ(Decoded(input, {png.begin(), png.end()}), expected);
}

TEST(ImageInput, SaysWhatDoesNotGoTogether) {
  MeanImage mean(2, 2);
  ExpectParts(ErrorOf([&] { ImageInput(1, 4, 4, mean.transform); }), {"4 x 4", "2 x 2"});
  ExpectParts(ErrorOf([&] { ImageInput(3, 2, 2, mean.transform); }), {"1 x 2 x 2", "3 x 2 x 2"});
  ExpectParts(ErrorOf([] { ImageInput(2, 4, 4, TransformationParameter()); }), {"not 2"});
}

TEST(ImageInput, NamesTheFileThatIsNoPicture) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "cat.jpg", "no picture");
  WriteFileAtomically(folder / "empty.jpg", "");
  const ImageInput input(3, 4, 4, TransformationParameter());
  std::vector<float> values(48);
  for (const char* file : {"cat.jpg", "empty.jpg", "missing.jpg"}) {
    ExpectParts(ErrorOf([&] { input.Read(folder / file, values.data()); }), {folder / file});
  }
}

}  // namespace
}  // namespace moka
