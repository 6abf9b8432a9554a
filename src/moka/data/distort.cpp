#include "moka/data/distort.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "moka/base/error.hpp"

namespace moka {
namespace {

constexpr float kHues = 180;  // of 8-bit pictures

/// value * factor + shift, rounded and kept within 0 to 255.
cv::Mat Linear(const cv::Mat& picture, double factor, double shift) {
  cv::Mat changed;
  picture.convertTo(changed, -1, factor, shift);
  return changed;
}

/// Turns the hue by `turn` and multiplies the saturation by `factor`.
cv::Mat ChangeColor(const cv::Mat& picture, float turn, float factor) {
  if (picture.channels() != 3) return picture;
  cv::Mat changed;
  cv::cvtColor(picture, changed, cv::COLOR_BGR2HSV);
  const int whole_turn = static_cast<int>(std::lround(turn)) + static_cast<int>(kHues);
  for (int y = 0; y < changed.rows; ++y) {
    uint8_t* pixel = changed.ptr<uint8_t>(y);
    for (int x = 0; x < changed.cols; ++x, pixel += 3) {
      pixel[0] = static_cast<uint8_t>((pixel[0] + whole_turn) % static_cast<int>(kHues));
      pixel[1] = cv::saturate_cast<uint8_t>(pixel[1] * factor);
    }
  }
  cv::cvtColor(changed, changed, cv::COLOR_HSV2BGR);
  return changed;
}

cv::Mat ShuffleChannels(const cv::Mat& picture, Draws* draws) {
  std::vector<cv::Mat> channels;
  cv::split(picture, channels);
  for (size_t i = channels.size(); i > 1; --i) {
    std::swap(channels[i - 1], channels[draws->Below(static_cast<int64_t>(i))]);
  }
  cv::Mat shuffled;
  cv::merge(channels, shuffled);
  return shuffled;
}

/// Each kind's own probability, or DeepDetect's one where the kind is switched on.
float ProbabilityOf(float own, bool on, const DistortionParameter& param) {
  return on || param.all_effects() ? std::max(own, param.prob()) : own;
}

cv::Mat Contrast(const DistortionParameter& param, const cv::Mat& picture, Draws* draws) {
  const float factor = draws->Uniform(param.contrast_lower(), param.contrast_upper());
  const float probability = ProbabilityOf(param.contrast_prob(), param.contrast(), param);
  return draws->Chance(probability) ? Linear(picture, factor, 0) : picture;
}

void CheckRange(const char* what, float low, float high) {
  Require(low >= 0 && low <= high, "transform_param: ", what, " from ", low, " to ", high,
          ": the limits must be 0 or more, and the lower the first");
}

}  // namespace

cv::Mat Distort(const DistortionParameter& param, const cv::Mat& picture, Draws* draws) {
  cv::Mat changed = picture;
  const bool contrast_last = draws->Chance(0.5f);
  const float shift = draws->Uniform(-param.brightness_delta(), param.brightness_delta());
  if (draws->Chance(ProbabilityOf(param.brightness_prob(), param.brightness(), param))) {
    changed = Linear(changed, 1, shift);
  }
  if (!contrast_last) changed = Contrast(param, changed, draws);
  const float factor = draws->Uniform(param.saturation_lower(), param.saturation_upper());
  if (draws->Chance(ProbabilityOf(param.saturation_prob(), param.saturation(), param))) {
    changed = ChangeColor(changed, 0, factor);
  }
  const float turn = draws->Uniform(-param.hue_delta(), param.hue_delta());
  if (draws->Chance(ProbabilityOf(param.hue_prob(), param.hue(), param))) {
    changed = ChangeColor(changed, turn, 1);
  }
  if (contrast_last) changed = Contrast(param, changed, draws);
  if (draws->Chance(ProbabilityOf(param.random_order_prob(), param.random_order(), param))) {
    changed = ShuffleChannels(changed, draws);
  }
  return changed;
}

cv::Mat Adjust(const TransformationParameter& param, const cv::Mat& picture, Draws* draws) {
  cv::Mat changed = picture;
  const float probability = param.apply_probability();
  if (param.contrast_brightness_adjustment() && draws->Chance(probability)) {
    const float factor = draws->Uniform(param.min_contrast(), param.max_contrast());
    const float most = param.max_brightness_shift();
    changed = Linear(changed, factor, draws->Uniform(-most, most));
  }
  if (param.max_color_shift() > 0 && draws->Chance(probability)) {
    const float most = param.max_color_shift();
    cv::Scalar shift;
    for (int c = 0; c < 4; ++c) shift[c] = draws->Uniform(-most, most);
    cv::Mat shifted;
    cv::add(changed, shift, shifted);
    changed = shifted;
  }
  if (param.smooth_filtering() && draws->Chance(probability)) {
    const int side = static_cast<int>(draws->Between(1, param.max_smooth()));
    cv::Mat smooth;
    cv::blur(changed, smooth, cv::Size(side, side));
    changed = smooth;
  }
  return changed;
}

void CheckDistortion(const DistortionParameter& param) {
  const auto needs = [](float probability, float upper, const char* what) {
    Require(probability == 0 || upper > 0, "transform_param.distort_param: ", what,
            " changes with probability ", probability, ", but ", what, "_upper is missing");
  };
  needs(ProbabilityOf(param.contrast_prob(), param.contrast(), param), param.contrast_upper(),
        "contrast");
  needs(ProbabilityOf(param.saturation_prob(), param.saturation(), param), param.saturation_upper(),
        "saturation");
  CheckRange("contrast", param.contrast_lower(), param.contrast_upper());
  CheckRange("saturation", param.saturation_lower(), param.saturation_upper());
  CheckRange("brightness_delta", param.brightness_delta(), 255);
  CheckRange("hue_delta", param.hue_delta(), kHues);
}

void CheckAdjustment(const TransformationParameter& param) {
  CheckRange("contrast", param.min_contrast(), param.max_contrast());
  CheckRange("max_brightness_shift", param.max_brightness_shift(), 255);
  CheckRange("max_color_shift", param.max_color_shift(), 255);
  Require(param.max_smooth() > 0, "transform_param.max_smooth is 0: a blur covers 1 pixel or more");
}

}  // namespace moka
