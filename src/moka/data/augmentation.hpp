#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "moka/data/draws.hpp"
#include "moka/data/objects.hpp"
#include "moka/data/size_change.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// What is done to a picture before mean, crop and mirror, in this order: distort_param,
/// expand_param, batch_sampler of SSD; resize_param; other changes of the size; noise_param; the
/// changes of the caffe-augmentation forks. In TEST only what is not random: batch_sampler,
/// resize_param, min_side and allow_upscale.
///
/// May be used from several threads at once.
class Augmentation {
 public:
  /// `crop` is empty where nothing is cropped; `fill` is the mean of each channel, one for all, or
  /// empty. Throws Error for fields that contradict each other.
  Augmentation(const TransformationParameter& param, const AnnotatedDataParameter& sampling,
               bool train, cv::Size crop, std::vector<float> fill);

  /// Whether it does anything.
  bool needed() const { return needed_; }

  /// Whether the size of what comes out is random; then it is cropped.
  bool size_varies() const { return size_varies_; }

  /// The size of what comes out, when it is not random.
  cv::Size OutputSize(cv::Size in) const;

  /// The picture, changed; the objects in it move along. Throws Error for pictures of floats where
  /// colours are to be changed, and for numbers of channels that OpenCV does not know.
  cv::Mat Apply(const cv::Mat& picture, Draws* draws, Objects* objects) const;

 private:
  cv::Mat ChangeColors(const cv::Mat& picture, Draws* draws) const;
  cv::Mat Expand(const cv::Mat& picture, Draws* draws, Objects* objects) const;
  cv::Mat Sample(const cv::Mat& picture, Draws* draws, Objects* objects) const;
  cv::Mat ChangeSize(const cv::Mat& picture, Draws* draws, Objects* objects) const;
  cv::Mat Damage(const cv::Mat& picture, Draws* draws) const;
  cv::Mat Rotate(const cv::Mat& picture, Draws* draws) const;
  void Keep(const Box& part, Objects* objects) const;

  TransformationParameter param_;
  AnnotatedDataParameter sampling_;
  bool train_;
  std::vector<float> fill_;
  SizeChange size_change_;
  bool expands_, samples_, damages_;
  bool size_varies_ = false, needed_ = false;
};

}  // namespace moka
