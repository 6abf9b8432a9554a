#include "moka/data/size_change.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "moka/base/error.hpp"
#include "moka/data/picture.hpp"
#include "moka/data/resize.hpp"

namespace moka {
namespace {

/// Whether the range is given; throws Error when it is wrong.
bool IsRange(const char* name, double low, double high, double off) {
  if (low == off && high == off) return false;
  Require(low > 0 && low <= high, "transform_param: ", name, " from ", low, " to ", high,
          ": the limits must be above 0, and the lower the first");
  return true;
}

bool HasRandomSize(const TransformationParameter& param) {
  const RandomResizeParameter& resize = param.random_resize_param();
  // All are checked, so no ||.
  int ranges =
      IsRange("img_rand_resize", param.img_rand_resize_lower(), param.img_rand_resize_upper(), 0);
  ranges += IsRange("rand_resize_ratio", param.rand_resize_ratio_lower(),
                    param.rand_resize_ratio_upper(), 0);
  ranges += IsRange("vertical_stretch", param.vertical_stretch_lower(),
                    param.vertical_stretch_upper(), 1);
  ranges += IsRange("horizontal_stretch", param.horizontal_stretch_lower(),
                    param.horizontal_stretch_upper(), 1);
  ranges += IsRange("min_side", param.min_side_min(), param.min_side_max(), 0);
  ranges += IsRange("random_resize_param", resize.min_size(), resize.max_size(), 0);
  return ranges > 0;
}

void CheckAspectRatio(const RandomAspectRatioParameter& param) {
  IsRange("random_aspect_ratio_param: area_ratio", param.min_area_ratio(), param.max_area_ratio(),
          0);
  Require(param.max_area_ratio() <= 1 && param.aspect_ratio_change() > 0,
          "transform_param.random_aspect_ratio_param: max_area_ratio must be at most 1 and "
          "aspect_ratio_change above 0");
}

cv::Size Scaled(cv::Size size, float vertical, float horizontal) {
  return cv::Size(static_cast<int>(std::lround(static_cast<float>(size.width) * horizontal)),
                  static_cast<int>(std::lround(static_cast<float>(size.height) * vertical)));
}

cv::Size AtLeast(cv::Size size, cv::Size least) {
  return cv::Size(std::max(size.width, least.width), std::max(size.height, least.height));
}

}  // namespace

SizeChange::SizeChange(const TransformationParameter& param, bool train, cv::Size crop)
    : param_(param),
      crop_(crop),
      stretches_(train && param.has_random_aspect_ratio_param()),
      varies_(train && HasRandomSize(param)),
      upscales_(param.allow_upscale() && !crop.empty()) {
  CheckAspectRatio(param.random_aspect_ratio_param());
  Require(!param.has_random_aspect_ratio_param() || !param.has_random_resize_param(),
          "transform_param has both random_aspect_ratio_param and random_resize_param");
  Require(!stretches_ || !crop.empty(),
          "transform_param.random_aspect_ratio_param needs a crop_size, to which it stretches");
}

cv::Size SizeChange::NewSize(cv::Size in, Draws* draws) const {
  if (stretches_) return crop_;
  cv::Size size = in;
  if (param_.min_side() > 0) size = WithShortSide(size, param_.min_side());
  if (varies_) return AtLeast(RandomSize(size, draws), crop_);
  const bool small = size.width < crop_.width || size.height < crop_.height;
  return upscales_ && small ? Covering(size, crop_) : size;
}

cv::Size SizeChange::RandomSize(cv::Size size, Draws* draws) const {
  if (param_.min_side_max() > 0) {
    size = WithShortSide(size, draws->Between(param_.min_side_min(), param_.min_side_max()));
  }
  const RandomResizeParameter& resize = param_.random_resize_param();
  if (resize.max_size() > 0) {
    size = WithShortSide(size, draws->Between(resize.min_size(), resize.max_size()));
  }
  if (param_.img_rand_resize_upper() > 0) {
    size = WithShortSide(
        size, draws->Between(param_.img_rand_resize_lower(), param_.img_rand_resize_upper()));
  }
  float factor = 1;
  if (param_.rand_resize_ratio_upper() > 0) {
    factor = draws->Uniform(param_.rand_resize_ratio_lower(), param_.rand_resize_ratio_upper());
  }
  const float vertical =
      draws->Uniform(param_.vertical_stretch_lower(), param_.vertical_stretch_upper());
  const float horizontal =
      draws->Uniform(param_.horizontal_stretch_lower(), param_.horizontal_stretch_upper());
  return AtLeast(Scaled(size, factor * vertical, factor * horizontal), cv::Size(1, 1));
}

cv::Rect SizeChange::RandomPart(cv::Size size, Draws* draws) const {
  const RandomAspectRatioParameter& param = param_.random_aspect_ratio_param();
  const float change = param.aspect_ratio_change();
  const float most = std::max(change, 1 / change);
  for (uint32_t attempt = 0; attempt < param.max_attempt(); ++attempt) {
    const float share = draws->Uniform(param.min_area_ratio(), param.max_area_ratio());
    const float side = std::sqrt(share * static_cast<float>(size.area()));
    const float stretch = draws->Uniform(1 / most, most);
    cv::Size part = AtLeast(cv::Size(static_cast<int>(std::lround(side / stretch)),
                                     static_cast<int>(std::lround(side * stretch))),
                            cv::Size(1, 1));
    if (draws->Chance(0.5f)) std::swap(part.width, part.height);
    if (part.width > size.width || part.height > size.height) continue;
    const auto left = static_cast<int>(draws->Between(0, size.width - part.width));
    const auto top = static_cast<int>(draws->Between(0, size.height - part.height));
    return cv::Rect(cv::Point(left, top), part);
  }
  const int side = std::min(size.width, size.height);
  return cv::Rect((size.width - side) / 2, (size.height - side) / 2, side, side);
}

cv::Mat SizeChange::Apply(const cv::Mat& picture, Draws* draws, Box* part) const {
  *part = {0, 0, 1, 1};
  if (stretches_) {
    const cv::Rect rect = RandomPart(picture.size(), draws);
    *part = PartOf(rect, picture.size());
    return ResizeTo(picture(rect), crop_,
                    PickInterpolation(param_.random_aspect_ratio_param().resize_param(), draws));
  }
  const cv::Size size = NewSize(picture.size(), draws);
  if (param_.has_random_resize_param()) {
    return ResizeTo(picture, size,
                    PickInterpolation(param_.random_resize_param().resize_param(), draws));
  }
  if (param_.min_side() > 0 || param_.min_side_max() > 0) {
    return ResizeTo(picture, size, cv::INTER_LINEAR);
  }
  // The numbers of NVIDIA's algorithms are OpenCV's.
  const bool shrinks = size.width <= picture.cols && size.height <= picture.rows;
  return ResizeTo(picture, size,
                  shrinks ? static_cast<int>(param_.interpolation_algo_down())
                          : static_cast<int>(param_.interpolation_algo_up()));
}

}  // namespace moka
