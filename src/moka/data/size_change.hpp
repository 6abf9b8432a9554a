#pragma once

#include <opencv2/core.hpp>

#include "moka/data/box.hpp"
#include "moka/data/draws.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The changes of a picture's size that NVIDIA's, Intel's and the caffe-augmentation forks know,
/// one after the other: min_side, min_side_min to min_side_max, random_resize_param,
/// img_rand_resize_*, rand_resize_ratio_*, *_stretch_*; then, for all random ones, as much as it
/// takes to cover the crop; or instead of all these random_aspect_ratio_param.
class SizeChange {
 public:
  /// `crop` is empty where nothing is cropped. Throws Error for limits the wrong way round.
  SizeChange(const TransformationParameter& param, bool train, cv::Size crop);

  /// Whether there is anything to do.
  bool needed() const { return stretches_ || varies_ || param_.min_side() > 0 || upscales_; }

  /// Whether the new size is random.
  bool varies() const { return varies_; }

  /// The new size of a picture, when that is not random.
  cv::Size OutputSize(cv::Size in) const { return NewSize(in, nullptr); }

  /// `part` is the part of the old picture that the new one shows.
  cv::Mat Apply(const cv::Mat& picture, Draws* draws, Box* part) const;

 private:
  cv::Size NewSize(cv::Size in, Draws* draws) const;
  cv::Size RandomSize(cv::Size size, Draws* draws) const;
  cv::Rect RandomPart(cv::Size size, Draws* draws) const;

  TransformationParameter param_;
  cv::Size crop_;
  bool stretches_;  // a random part to the crop
  bool varies_, upscales_;
};

}  // namespace moka
