#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "moka/base/philox.hpp"
#include "moka/data/datum.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// What transform_param asks for, done to one image (Caffe's DataTransformer):
///
///     out = (in - mean) * scale,  cropped, and mirrored left to right in half of the cases
///
/// The crop (crop_size, or crop_h with crop_w) stands anywhere in TRAIN and at (size - crop) / 2,
/// rounded down, in TEST. The mean is one value, one a channel, or an image of the size before the
/// crop. Random choices are a function of (seed, reader, epoch, record) and of nothing else.
///
/// May be used from several threads at once.
class Transform {
 public:
  /// `reader` tells apart readers that share a seed (see StreamOf). Reads the mean_file.
  ///
  /// Throws Error when fields contradict each other, when the mean file is missing or no mean, and
  /// for a field that moka does not know how to follow yet.
  Transform(const TransformationParameter& param, Phase phase, uint64_t seed, uint64_t reader);

  /// How encoded pictures are to be decoded (force_color, force_gray).
  ColorMode color_mode() const;

  /// C x H x W of the mean image, empty without one.
  const std::vector<int64_t>& mean_shape() const { return mean_shape_; }

  /// C x H x W after the transformation. Throws Error when the crop is larger than the image, or
  /// when the mean does not fit it.
  std::vector<int64_t> OutputShape(const Pixels& in) const;

  /// Writes the transformed image, C x H x W, to `out`. Throws as OutputShape.
  void Apply(const Pixels& in, int64_t epoch, int64_t record, float* out) const;

 private:
  void ReadMean(const std::string& file);
  void CheckMean(const Pixels& in) const;

  ColorMode color_mode_;
  bool train_;
  bool mirror_;
  float scale_;
  int64_t crop_height_, crop_width_;
  std::vector<float> mean_values_;
  std::string mean_file_;
  std::vector<float> mean_image_;
  std::vector<int64_t> mean_shape_;
  Philox random_;
};

}  // namespace moka
