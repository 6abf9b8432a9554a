#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "moka/base/error.hpp"
#include "moka/data/distort.hpp"

namespace moka {
namespace {

cv::Mat Converted(const cv::Mat& picture, int code) {
  cv::Mat converted;
  cv::cvtColor(picture, converted, code);
  return converted;
}

cv::Mat Decolorized(const cv::Mat& picture) {
  return Converted(Converted(picture, cv::COLOR_BGR2GRAY), cv::COLOR_GRAY2BGR);
}

/// Applies `change` to the brightness of a picture: the first channel of the colour space that
/// `there` leads to.
template <typename Change>
cv::Mat WithBrightness(const cv::Mat& picture, int there, int back, const Change& change) {
  if (picture.channels() != 3) {
    cv::Mat changed;
    change(picture, &changed);
    return changed;
  }
  std::vector<cv::Mat> channels;
  cv::split(Converted(picture, there), channels);
  cv::Mat brightness;
  change(channels[0], &brightness);
  channels[0] = brightness;
  cv::Mat merged;
  cv::merge(channels, merged);
  return Converted(merged, back);
}

cv::Mat Equalized(const cv::Mat& picture) {
  return WithBrightness(picture, cv::COLOR_BGR2YCrCb, cv::COLOR_YCrCb2BGR,
                        [](const cv::Mat& from, cv::Mat* to) { cv::equalizeHist(from, *to); });
}

cv::Mat LocallyEqualized(const cv::Mat& picture) {
  return WithBrightness(picture, cv::COLOR_BGR2Lab, cv::COLOR_Lab2BGR,
                        [](const cv::Mat& from, cv::Mat* to) {
                          cv::createCLAHE(4, cv::Size(8, 8))->apply(from, *to);
                        });
}

cv::Mat Blurred(const cv::Mat& picture) {
  cv::Mat blurred;
  cv::GaussianBlur(picture, blurred, cv::Size(7, 7), 1.5);
  return blurred;
}

cv::Mat Compressed(const cv::Mat& picture, float quality) {
  std::vector<uint8_t> bytes;
  cv::imencode(".jpg", picture, bytes, {cv::IMWRITE_JPEG_QUALITY, static_cast<int>(quality)});
  return cv::imdecode(bytes, picture.channels() == 3 ? cv::IMREAD_COLOR : cv::IMREAD_GRAYSCALE);
}

cv::Mat Eroded(const cv::Mat& picture) {
  cv::Mat eroded;
  cv::erode(picture, eroded, cv::getStructuringElement(cv::MORPH_RECT, cv::Size(3, 3)));
  return eroded;
}

cv::Mat Posterized(const cv::Mat& picture) {
  cv::Mat table(1, 256, CV_8U), reduced;
  for (int i = 0; i < 256; ++i) table.at<uint8_t>(i) = static_cast<uint8_t>(i / 64 * 64 + 32);
  cv::LUT(picture, table, reduced);
  return reduced;
}

cv::Mat Inverted(const cv::Mat& picture) {
  cv::Mat inverted;
  cv::bitwise_not(picture, inverted);
  return inverted;
}

cv::Mat Peppered(const SaltPepperParameter& param, const cv::Mat& picture, Draws* draws) {
  cv::Mat peppered = picture.clone();
  const int channels = picture.channels();
  const auto count = static_cast<int64_t>(param.fraction() * static_cast<float>(picture.total()));
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* pixel = peppered.ptr<uint8_t>(static_cast<int>(draws->Below(picture.rows))) +
                     draws->Below(picture.cols) * channels;
    for (int c = 0; c < channels; ++c) {
      const int value = std::min(c, param.value_size() - 1);
      pixel[c] = value < 0 ? 0 : cv::saturate_cast<uint8_t>(param.value(value));
    }
  }
  return peppered;
}

}  // namespace

cv::Mat AddNoise(const NoiseParameter& param, const cv::Mat& picture, Draws* draws) {
  const bool color = picture.channels() == 3;
  // Every kind draws, so that switching one on leaves the others as they were.
  const auto happens = [&](bool on) {
    return draws->Chance(param.prob()) && (on || param.all_effects());
  };
  cv::Mat noisy = picture;
  if (happens(param.decolorize()) && color) noisy = Decolorized(noisy);
  if (happens(param.gauss_blur())) noisy = Blurred(noisy);
  if (happens(param.hist_eq())) noisy = Equalized(noisy);
  if (happens(param.clahe())) noisy = LocallyEqualized(noisy);
  if (happens(param.jpeg() > 0) && param.jpeg() > 0) noisy = Compressed(noisy, param.jpeg());
  if (happens(param.erode())) noisy = Eroded(noisy);
  if (happens(param.posterize())) noisy = Posterized(noisy);
  if (happens(param.inverse())) noisy = Inverted(noisy);
  if (happens(param.saltpepper())) noisy = Peppered(param.saltpepper_param(), noisy, draws);
  if (happens(param.convert_to_hsv()) && color) noisy = Converted(noisy, cv::COLOR_BGR2HSV);
  if (happens(param.convert_to_lab()) && color) noisy = Converted(noisy, cv::COLOR_BGR2Lab);
  return noisy;
}

void CheckNoise(const NoiseParameter& param) {
  const float fraction = param.saltpepper_param().fraction();
  Require(fraction >= 0 && fraction <= 1,
          "transform_param.noise_param.saltpepper_param.fraction is ", fraction,
          ": it is a share, from 0 to 1");
  Require(param.jpeg() <= 100, "transform_param.noise_param.jpeg is ", param.jpeg(),
          ": it is a quality, from 1 to 100");
}

}  // namespace moka
