#include "moka/data/image_input.hpp"

#include <opencv2/imgproc.hpp>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/data/datum.hpp"

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

/// Interleaved pixels, as pictures are decoded.
Pixels PixelsOf(const cv::Mat& picture) {
  Pixels pixels;
  pixels.channels = pixels.pixel_stride = picture.channels();
  pixels.height = picture.rows;
  pixels.width = picture.cols;
  pixels.channel_stride = 1;
  pixels.row_stride = static_cast<int64_t>(picture.step[0]);
  pixels.bytes = picture.data;
  return pixels;
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
  Datum datum;
  datum.set_encoded(true);
  datum.set_data(bytes);
  DatumDecoder decoder(transform_.color_mode());
  const std::string record = datum.SerializeAsString();
  const Pixels pixels = decoder.Decode(record);
  const cv::Mat picture(static_cast<int>(pixels.height), static_cast<int>(pixels.width),
                        CV_8UC(static_cast<int>(pixels.channels)),
                        const_cast<uint8_t*>(pixels.bytes), pixels.row_stride);
  cv::Mat resized;
  cv::resize(picture, resized,
             cv::Size(static_cast<int>(resized_width_), static_cast<int>(resized_height_)));
  transform_.Apply(PixelsOf(resized), 0, 0, out);
}

}  // namespace moka
