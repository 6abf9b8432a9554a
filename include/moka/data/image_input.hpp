#pragma once

#include <cstdint>
#include <string>

#include "moka/data/transform.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// From picture files to the numbers that a net takes: the one preprocessing for everything that
/// looks at single pictures.
///
/// A picture is decoded, in grey for 1 channel and in colour (blue, green, red) for 3, and resized
/// without regard to its proportions; then comes what transform_param does in phase TEST:
/// (in - mean) * scale, cropped at the centre. Where the mean is an image, pictures are resized to
/// its size and cropped to the net's, so that they look as pictures of a test database of that size
/// do; else they are resized to the net's size.
class ImageInput {
 public:
  /// For a net that takes `channels` x `height` x `width`. Of `transform`, scale and the mean are
  /// used. Throws Error for another number of channels than 1 and 3, when the mean cannot be read,
  /// and when it does not fit.
  ImageInput(int64_t channels, int64_t height, int64_t width,
             const TransformationParameter& transform);

  int64_t channels() const { return channels_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  /// Writes the picture in a file, C x H x W, to `out`. Throws Error when the file cannot be read
  /// or is no picture.
  void Read(const std::string& path, float* out) const;

  /// The same for the bytes of a file.
  void Decode(const std::string& bytes, float* out) const;

 private:
  int64_t channels_, height_, width_;
  int64_t resized_height_, resized_width_;
  Transform transform_;
};

}  // namespace moka
