#include "moka/data/datum.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "moka/base/error.hpp"

namespace moka {
namespace {

int DecodeFlags(ColorMode mode) {
  switch (mode) {
    case ColorMode::kColor:
      return cv::IMREAD_COLOR;
    case ColorMode::kGray:
      return cv::IMREAD_GRAYSCALE;
    default:
      return cv::IMREAD_UNCHANGED;
  }
}

}  // namespace

DatumDecoder::DatumDecoder(ColorMode mode) : mode_(mode), picture_(std::make_unique<cv::Mat>()) {}

DatumDecoder::~DatumDecoder() = default;

Pixels DatumDecoder::Decode(std::string_view record) {
  Require(datum_.ParseFromArray(record.data(), static_cast<int>(record.size())), "is no Datum (",
          record.size(), " bytes)");
  if (datum_.encoded()) return DecodePicture();
  Pixels pixels;
  pixels.channels = datum_.channels();
  pixels.height = datum_.height();
  pixels.width = datum_.width();
  pixels.row_stride = pixels.width;
  pixels.channel_stride = pixels.height * pixels.width;
  const std::string& data = datum_.data();
  const int64_t values = data.empty() ? datum_.float_data_size() : data.size();
  // By division, for the product of three broken sizes may overflow.
  Require(pixels.channels > 0 && pixels.height > 0 && pixels.width > 0 &&
              values % pixels.channel_stride == 0 &&
              values / pixels.channel_stride == pixels.channels,
          "has ", values, data.empty() ? " floats" : " bytes", " for a shape of ", pixels.channels,
          " x ", pixels.height, " x ", pixels.width);
  if (data.empty()) {
    pixels.floats = datum_.float_data().data();
  } else {
    pixels.bytes = reinterpret_cast<const uint8_t*>(data.data());
  }
  return pixels;
}

Pixels DatumDecoder::DecodePicture() {
  const std::string& data = datum_.data();
  try {
    const cv::Mat encoded(1, static_cast<int>(data.size()), CV_8U, const_cast<char*>(data.data()));
    *picture_ = data.empty() ? cv::Mat() : cv::imdecode(encoded, DecodeFlags(mode_));
  } catch (const cv::Exception& e) {
    Fail("holds a picture that cannot be decoded: ", e.err);
  }
  Require(!picture_->empty(), "holds a picture that cannot be decoded (", data.size(), " bytes)");
  Require(picture_->depth() == CV_8U, "holds a picture with more than 8 bits a channel");
  Pixels pixels;
  pixels.channels = pixels.pixel_stride = picture_->channels();
  pixels.height = picture_->rows;
  pixels.width = picture_->cols;
  pixels.channel_stride = 1;
  pixels.row_stride = static_cast<int64_t>(picture_->step[0]);
  pixels.bytes = picture_->data;
  return pixels;
}

}  // namespace moka
