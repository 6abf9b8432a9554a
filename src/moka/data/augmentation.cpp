#include "moka/data/augmentation.hpp"

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "moka/base/error.hpp"
#include "moka/data/distort.hpp"
#include "moka/data/part_sampler.hpp"
#include "moka/data/picture.hpp"
#include "moka/data/resize.hpp"

namespace moka {
namespace {

bool Adjusts(const TransformationParameter& param) {
  return param.contrast_brightness_adjustment() || param.max_color_shift() > 0 ||
         param.smooth_filtering() || param.max_rotation_angle() > 0;
}

/// Whether resize_param leads to one size, whatever comes in.
bool FixesSize(const TransformationParameter& param) {
  return param.has_resize_param() && param.resize_param().prob() >= 1 &&
         param.resize_param().resize_mode() != ResizeParameter::FIT_SMALL_SIZE;
}

void RequireBytes(const cv::Mat& picture) {
  Require(picture.depth() == CV_8U,
          "is made of floats, but transform_param changes colours, which is for bytes (0 to 255)");
}

}  // namespace

Augmentation::Augmentation(const TransformationParameter& param,
                           const AnnotatedDataParameter& sampling, bool train, cv::Size crop,
                           std::vector<float> fill)
    : param_(param),
      sampling_(sampling),
      train_(train),
      fill_(std::move(fill)),
      size_change_(param, train, crop),
      expands_(train && param.has_expand_param() && param.expand_param().prob() > 0),
      samples_(SamplesParts(sampling)),
      damages_(train && (param.noise_param().prob() > 0 || Adjusts(param))) {
  if (param.has_resize_param()) CheckResize(param.resize_param());
  CheckDistortion(param.distort_param());
  CheckNoise(param.noise_param());
  CheckAdjustment(param);
  CheckSamplers(sampling);
  Require(param.expand_param().max_expand_ratio() >= 1,
          "transform_param.expand_param: ", "max_expand_ratio is ",
          param.expand_param().max_expand_ratio(),
          ": pictures are put into larger ones, so it is 1 or more");
  const bool resizes_at_random = param.has_resize_param() && param.resize_param().prob() < 1;
  size_varies_ =
      ((expands_ || samples_) && !FixesSize(param)) || resizes_at_random || size_change_.varies();
  needed_ = expands_ || samples_ || damages_ || param.has_resize_param() || size_change_.needed() ||
            (train && param.has_distort_param());
  Require(!size_varies_ || !crop.empty(),
          "the size of pictures is random: a resize_param (mode WARP) or a crop_size must make "
          "them alike");
}

cv::Size Augmentation::OutputSize(cv::Size in) const {
  if (param_.has_resize_param()) in = ResizedSize(param_.resize_param(), in);
  return size_change_.OutputSize(in);
}

cv::Mat Augmentation::Apply(const cv::Mat& picture, Draws* draws, Objects* objects) const {
  try {
    cv::Mat changed = ChangeColors(picture, draws);
    changed = Expand(changed, draws, objects);
    changed = Sample(changed, draws, objects);
    changed = ChangeSize(changed, draws, objects);
    return Damage(changed, draws);
  } catch (const cv::Exception& e) {
    Fail("cannot be transformed as transform_param says: ", e.err);
  }
}

void Augmentation::Keep(const Box& part, Objects* objects) const {
  KeepObjectsIn(part, param_.has_emit_constraint() ? &param_.emit_constraint() : nullptr, objects);
}

cv::Mat Augmentation::ChangeColors(const cv::Mat& picture, Draws* draws) const {
  if (!train_ || !param_.has_distort_param()) return picture;
  RequireBytes(picture);
  return Distort(param_.distort_param(), picture, draws);
}

cv::Mat Augmentation::Expand(const cv::Mat& picture, Draws* draws, Objects* objects) const {
  if (!expands_) return picture;
  const ExpansionParameter& expand = param_.expand_param();
  const float ratio = draws->Uniform(1, expand.max_expand_ratio());
  if (!draws->Chance(expand.prob())) return picture;
  const auto extra_width = static_cast<int>(static_cast<float>(picture.cols) * (ratio - 1));
  const auto extra_height = static_cast<int>(static_cast<float>(picture.rows) * (ratio - 1));
  const auto left = static_cast<int>(draws->Between(0, extra_width));
  const auto top = static_cast<int>(draws->Between(0, extra_height));
  cv::Scalar fill;
  for (size_t c = 0; c < 4 && !fill_.empty(); ++c) {
    fill[static_cast<int>(c)] = fill_[std::min(c, fill_.size() - 1)];
  }
  cv::Mat expanded;
  cv::copyMakeBorder(picture, expanded, top, extra_height - top, left, extra_width - left,
                     cv::BORDER_CONSTANT, fill);
  Keep(PartOf(cv::Rect(cv::Point(-left, -top), expanded.size()), picture.size()), objects);
  return expanded;
}

cv::Mat Augmentation::Sample(const cv::Mat& picture, Draws* draws, Objects* objects) const {
  if (!samples_) return picture;
  const Box part = SamplePart(sampling_, *objects, draws);
  const auto pixel = [](float share, int size) {
    return std::clamp(static_cast<int>(share * static_cast<float>(size)), 0, size - 1);
  };
  cv::Rect rect(pixel(part.xmin, picture.cols), pixel(part.ymin, picture.rows), 0, 0);
  rect.width = std::max(1, static_cast<int>(part.xmax * static_cast<float>(picture.cols)) - rect.x);
  rect.height =
      std::max(1, static_cast<int>(part.ymax * static_cast<float>(picture.rows)) - rect.y);
  rect &= cv::Rect(cv::Point(0, 0), picture.size());
  Keep(PartOf(rect, picture.size()), objects);
  return picture(rect);
}

cv::Mat Augmentation::ChangeSize(const cv::Mat& picture, Draws* draws, Objects* objects) const {
  cv::Mat changed = picture;
  Box part;
  if (param_.has_resize_param() && draws->Chance(param_.resize_param().prob())) {
    changed = Resize(param_.resize_param(), changed, draws, &part);
    Keep(part, objects);
  }
  if (size_change_.needed()) {
    changed = size_change_.Apply(changed, draws, &part);
    Keep(part, objects);
  }
  return changed;
}

cv::Mat Augmentation::Damage(const cv::Mat& picture, Draws* draws) const {
  if (!damages_) return picture;
  RequireBytes(picture);
  cv::Mat damaged = picture;
  if (param_.noise_param().prob() > 0) damaged = AddNoise(param_.noise_param(), damaged, draws);
  return Rotate(Adjust(param_, damaged, draws), draws);
}

cv::Mat Augmentation::Rotate(const cv::Mat& picture, Draws* draws) const {
  const float most = param_.max_rotation_angle();
  if (most <= 0 || !draws->Chance(param_.apply_probability())) return picture;
  const cv::Point2f centre(static_cast<float>(picture.cols - 1) / 2,
                           static_cast<float>(picture.rows - 1) / 2);
  cv::Mat rotated;
  cv::warpAffine(picture, rotated, cv::getRotationMatrix2D(centre, draws->Uniform(-most, most), 1),
                 picture.size(), cv::INTER_LINEAR, cv::BORDER_REFLECT101);
  return rotated;
}

}  // namespace moka
