#include "moka/data/image_input.hpp"

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/data/picture.hpp"

namespace moka {
namespace {

TransformationParameter TransformFor(int64_t channels, int64_t height, int64_t width,
                                     const TransformationParameter& given) {
  Require(channels == 1 || channels == 3, "pictures have 1 channel (grey) or 3 (colour), not ",
          channels);
  TransformationParameter param;
  param.set_scale(given.scale());
  if (given.has_mean_file()) param.set_mean_file(given.mean_file());
  *param.mutable_mean_value() = given.mean_value();
  param.set_crop_h(static_cast<uint32_t>(height));
  param.set_crop_w(static_cast<uint32_t>(width));
  if (channels == 1) {
    param.set_force_gray(true);
  } else {
    param.set_force_color(true);
  }
  return param;
}

}  // namespace

ImageInput::ImageInput(int64_t channels, int64_t height, int64_t width,
                       const TransformationParameter& transform)
    : channels_(channels),
      height_(height),
      width_(width),
      resized_height_(height),
      resized_width_(width),
      transform_(TransformFor(channels, height, width, transform), TEST, 0, 0) {
  if (!transform_.mean_shape().empty()) {
    resized_height_ = transform_.mean_shape()[1];
    resized_width_ = transform_.mean_shape()[2];
  }
  Pixels resized;
  resized.channels = channels;
  resized.height = resized_height_;
  resized.width = resized_width_;
  transform_.OutputShape(resized);  // throws where mean, picture and net do not go together
}

void ImageInput::Read(const std::string& path, float* out) const {
  const std::string bytes = ReadFile(path);
  try {
    Decode(bytes, out);
  } catch (Error& error) {
    error.In(path);
    throw;
  }
}

void ImageInput::Decode(const std::string& bytes, float* out) const {
  cv::Mat picture = DecodePicture(bytes, transform_.color_mode());
  ResizePicture(static_cast<int>(resized_height_), static_cast<int>(resized_width_), &picture);
  transform_.Apply(PixelsOf(picture), 0, 0, out);
}

}  // namespace moka
