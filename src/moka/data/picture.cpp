#include "moka/data/picture.hpp"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "moka/base/error.hpp"

namespace moka {

int DecodeFlags(ColorMode mode) {
  switch (mode) {
    case ColorMode::kColor:
      return cv::IMREAD_COLOR;
    case ColorMode::kGray:
      return cv::IMREAD_GRAYSCALE;
    default:
      return cv::IMREAD_UNCHANGED;
  }
}

Pixels PixelsOf(const cv::Mat& picture) {
  Pixels pixels;
  pixels.channels = pixels.pixel_stride = picture.channels();
  pixels.height = picture.rows;
  pixels.width = picture.cols;
  pixels.channel_stride = 1;
  pixels.row_stride = static_cast<int64_t>(picture.step1(0));
  if (picture.depth() == CV_8U) {
    pixels.bytes = picture.data;
  } else {
    pixels.floats = picture.ptr<float>();
  }
  return pixels;
}

cv::Mat PictureOf(const Pixels& pixels) {
  const int height = static_cast<int>(pixels.height), width = static_cast<int>(pixels.width);
  const int channels = static_cast<int>(pixels.channels);
  const int depth = pixels.bytes ? CV_8U : CV_32F;
  const size_t size = pixels.bytes ? sizeof(uint8_t) : sizeof(float);
  const auto plane = [&](int64_t channel) {
    const void* first =
        pixels.bytes ? static_cast<const void*>(pixels.bytes + channel * pixels.channel_stride)
                     : pixels.floats + channel * pixels.channel_stride;
    return const_cast<void*>(first);
  };
  const size_t step = static_cast<size_t>(pixels.row_stride) * size;
  if (pixels.pixel_stride == channels && (channels == 1 || pixels.channel_stride == 1)) {
    return cv::Mat(height, width, CV_MAKETYPE(depth, channels), plane(0), step);
  }
  std::vector<cv::Mat> planes;
  for (int c = 0; c < channels; ++c) {
    planes.emplace_back(height, width, CV_MAKETYPE(depth, 1), plane(c), step);
  }
  cv::Mat picture;
  cv::merge(planes, picture);
  return picture;
}

Box PartOf(cv::Rect rect, cv::Size size) {
  const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
  const auto share = [](int pixels, float all) { return static_cast<float>(pixels) / all; };
  return {share(rect.x, width), share(rect.y, height), share(rect.x + rect.width, width),
          share(rect.y + rect.height, height)};
}

cv::Mat DecodePicture(const std::string& bytes, ColorMode mode) {
  Require(!bytes.empty(), "is an empty file");
  cv::Mat picture;
  try {
    const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8U,
                          const_cast<char*>(bytes.data()));
    picture = cv::imdecode(encoded, DecodeFlags(mode));
  } catch (const cv::Exception& e) {
    Fail("is no picture that can be decoded: ", e.err);
  }
  Require(!picture.empty(), "is no picture that can be decoded (", bytes.size(), " bytes)");
  return picture;
}

void ResizePicture(int height, int width, cv::Mat* picture, Resampling resampling) {
  if (height == 0 || (picture->rows == height && picture->cols == width)) return;
  cv::Mat resized;
  cv::resize(*picture, resized, cv::Size(width, height), 0, 0,
             resampling == Resampling::kNearest ? cv::INTER_NEAREST : cv::INTER_LINEAR);
  *picture = resized;
}

}  // namespace moka
