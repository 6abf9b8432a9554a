#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "moka/base/philox.hpp"
#include "moka/data/datum.hpp"
#include "moka/data/objects.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

class Augmentation;

/// What transform_param asks for, done to one image (Caffe's DataTransformer):
///
///     out = (in - mean) * scale,  cropped, and mirrored left to right in half of the cases
///
/// The crop (crop_size, or crop_h with crop_w) stands anywhere in TRAIN and at (size - crop) / 2,
/// rounded down, in TEST. The mean is one value, one a channel, or an image of the size before the
/// crop. Random choices are a function of (seed, reader, epoch, record) and of nothing else.
///
/// Before that comes what forks of Caffe know: other colours, other sizes, noise (`moka help
/// fields TransformationParameter`). Where this makes sizes random, the crop (crop_size) makes
/// pictures alike, and of a mean image of another size the central part is subtracted.
///
/// May be used from several threads at once.
class Transform {
 public:
  /// `reader` tells apart readers that share a seed (see StreamOf). Reads the mean_file.
  ///
  /// `sampling` has the samplers of SSD, which cut parts out of pictures by the objects in them.
  ///
  /// Throws Error when fields contradict each other, and when the mean file is missing or no mean.
  Transform(const TransformationParameter& param, Phase phase, uint64_t seed, uint64_t reader,
            const AnnotatedDataParameter& sampling = {});
  ~Transform();

  /// How encoded pictures are to be decoded (force_color, force_gray).
  ColorMode color_mode() const;

  /// C x H x W of the mean image, empty without one.
  const std::vector<int64_t>& mean_shape() const { return mean_shape_; }

  /// The mean image, and the mean values: one, or one a channel. Empty without them.
  const std::vector<float>& mean_image() const { return mean_image_; }
  const std::vector<float>& mean_values() const { return mean_values_; }

  /// C x H x W after the transformation. Throws Error when the crop is larger than the image, or
  /// when the mean does not fit it.
  std::vector<int64_t> OutputShape(const Pixels& in) const;

  /// Writes the transformed image, C x H x W, to `out`. The objects in it, if any are given, move
  /// along, and those that leave it go. Throws as OutputShape.
  void Apply(const Pixels& in, int64_t epoch, int64_t record, float* out,
             Objects* objects = nullptr) const;

 private:
  void ReadMean(const std::string& file);
  std::vector<float> ChannelMeans() const;
  std::vector<int64_t> AugmentedShape(const Pixels& in) const;
  void CheckMean(const std::vector<int64_t>& shape) const;
  void CropAndScale(const Pixels& in, int64_t epoch, int64_t record, float* out,
                    Objects* objects) const;

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
  EmitConstraint emit_constraint_;
  bool emits_all_;
  std::unique_ptr<const Augmentation> augmentation_;  // none when there is nothing to do
};

/// The shape C x H x W of the pictures that `param` leads to, as far as it tells, for nets that are
/// looked at without their data: with crop or resize_param, and 3 channels unless it says
/// otherwise. Empty where the size depends on the pictures.
std::vector<int64_t> ExpectedShape(const TransformationParameter& param);

}  // namespace moka
