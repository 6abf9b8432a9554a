#include "moka/data/resize.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "moka/base/error.hpp"
#include "moka/data/picture.hpp"

namespace moka {
namespace {

int Rounded(double length) { return std::max(1, static_cast<int>(std::lround(length))); }

/// height_scale and width_scale where they are given, else height and width.
cv::Size Target(const ResizeParameter& param) {
  const bool scales = param.resize_mode() == ResizeParameter::FIT_SMALL_SIZE;
  const uint32_t height =
      scales && param.height_scale() > 0 ? param.height_scale() : param.height();
  const uint32_t width = scales && param.width_scale() > 0 ? param.width_scale() : param.width();
  return cv::Size(static_cast<int>(width), static_cast<int>(height));
}

/// The largest size that fits into `into` with the aspect ratio of `in`.
cv::Size Fitting(cv::Size in, cv::Size into) {
  const double factor = std::min(static_cast<double>(into.width) / in.width,
                                 static_cast<double>(into.height) / in.height);
  return cv::Size(std::min(into.width, Rounded(in.width * factor)),
                  std::min(into.height, Rounded(in.height * factor)));
}

int BorderOf(ResizeParameter::Pad_mode mode) {
  switch (mode) {
    case ResizeParameter::MIRRORED:
      return cv::BORDER_REFLECT101;
    case ResizeParameter::REPEAT_NEAREST:
      return cv::BORDER_REPLICATE;
    default:
      return cv::BORDER_CONSTANT;
  }
}

cv::Scalar PadValue(const ResizeParameter& param, int channels) {
  cv::Scalar value;
  if (param.pad_value_size() == 0) return value;
  Require(param.pad_value_size() == 1 || param.pad_value_size() == channels, "resize_param has ",
          param.pad_value_size(), " values pad_value for a picture of ", channels,
          " channels: give one value, or one a channel");
  for (int c = 0; c < std::min(channels, 4); ++c) {
    value[c] = param.pad_value(param.pad_value_size() > 1 ? c : 0);
  }
  return value;
}

}  // namespace

int PickInterpolation(const ResizeParameter& param, Draws* draws) {
  if (param.interp_mode_size() == 0) return cv::INTER_LINEAR;
  switch (param.interp_mode(static_cast<int>(draws->Below(param.interp_mode_size())))) {
    case ResizeParameter::AREA:
      return cv::INTER_AREA;
    case ResizeParameter::NEAREST:
      return cv::INTER_NEAREST;
    case ResizeParameter::CUBIC:
      return cv::INTER_CUBIC;
    case ResizeParameter::LANCZOS4:
      return cv::INTER_LANCZOS4;
    default:
      return cv::INTER_LINEAR;
  }
}

cv::Size WithShortSide(cv::Size in, int64_t side) {
  return Covering(in, cv::Size(static_cast<int>(side), static_cast<int>(side)));
}

cv::Size Covering(cv::Size in, cv::Size cover) {
  const double factor = std::max(static_cast<double>(cover.width) / in.width,
                                 static_cast<double>(cover.height) / in.height);
  return cv::Size(std::max(cover.width, Rounded(in.width * factor)),
                  std::max(cover.height, Rounded(in.height * factor)));
}

cv::Mat ResizeTo(const cv::Mat& picture, cv::Size size, int interpolation) {
  if (picture.size() == size) return picture;
  cv::Mat resized;
  cv::resize(picture, resized, size, 0, 0, interpolation);
  return resized;
}

void CheckResize(const ResizeParameter& param) {
  const cv::Size target = Target(param);
  Require(target.height > 0 && target.width > 0,
          "transform_param.resize_param needs a height and a width");
}

cv::Size ResizedSize(const ResizeParameter& param, cv::Size in) {
  const cv::Size target = Target(param);
  return param.resize_mode() == ResizeParameter::FIT_SMALL_SIZE ? Covering(in, target) : target;
}

cv::Mat Resize(const ResizeParameter& param, const cv::Mat& picture, Draws* draws, Box* part) {
  const int interpolation = PickInterpolation(param, draws);
  const cv::Size size = ResizedSize(param, picture.size());
  *part = {0, 0, 1, 1};
  if (param.resize_mode() != ResizeParameter::FIT_LARGE_SIZE_AND_PAD) {
    return ResizeTo(picture, size, interpolation);
  }
  const cv::Mat fitted = ResizeTo(picture, Fitting(picture.size(), size), interpolation);
  const int above = (size.height - fitted.rows) / 2, before = (size.width - fitted.cols) / 2;
  cv::Mat padded;
  cv::copyMakeBorder(fitted, padded, above, size.height - fitted.rows - above, before,
                     size.width - fitted.cols - before, BorderOf(param.pad_mode()),
                     PadValue(param, fitted.channels()));
  *part = PartOf(cv::Rect(cv::Point(-before, -above), size), fitted.size());
  return padded;
}

}  // namespace moka
