#pragma once

#include <opencv2/core.hpp>

#include "moka/data/draws.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// Random changes of the colours of a picture of bytes; none writes to the picture that it is
/// given. Grey pictures have no hue and saturation, and keep them.

/// distort_param of SSD (a probability for each change) or DeepDetect (one for all).
cv::Mat Distort(const DistortionParameter& param, const cv::Mat& picture, Draws* draws);

/// noise_param: each kind of damage that is switched on.
cv::Mat AddNoise(const NoiseParameter& param, const cv::Mat& picture, Draws* draws);

/// contrast_brightness_adjustment, max_color_shift and smooth_filtering of a transform_param.
cv::Mat Adjust(const TransformationParameter& param, const cv::Mat& picture, Draws* draws);

/// Throws Error when limits are the wrong way round.
void CheckDistortion(const DistortionParameter& param);
void CheckNoise(const NoiseParameter& param);
void CheckAdjustment(const TransformationParameter& param);

}  // namespace moka
