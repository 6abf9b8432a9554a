#pragma once

#include <opencv2/core.hpp>

#include "moka/data/box.hpp"
#include "moka/data/draws.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// OpenCV's number of one of the interp_mode of a ResizeParameter, picked at random; linear when it
/// has none.
int PickInterpolation(const ResizeParameter& param, Draws* draws);

/// The size in which the shorter side of `in` has length `side`, with the same aspect ratio.
cv::Size WithShortSide(cv::Size in, int64_t side);

/// The smallest size that covers `cover` with the aspect ratio of `in`.
cv::Size Covering(cv::Size in, cv::Size cover);

/// Brings a picture to a size, or returns it as it is.
cv::Mat ResizeTo(const cv::Mat& picture, cv::Size size, int interpolation);

/// Throws Error when a resize_param has no size, or pad values that do not suit its mode.
void CheckResize(const ResizeParameter& param);

/// The size of a picture after Resize.
cv::Size ResizedSize(const ResizeParameter& param, cv::Size in);

/// Does what resize_param says. `part` is the part of the old picture that the new one shows: more
/// than the picture where it was padded.
cv::Mat Resize(const ResizeParameter& param, const cv::Mat& picture, Draws* draws, Box* part);

}  // namespace moka
