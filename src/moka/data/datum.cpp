#include "moka/data/datum.hpp"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "moka/base/error.hpp"
#include "moka/data/picture.hpp"

namespace moka {
DatumDecoder::DatumDecoder(ColorMode mode) : mode_(mode), picture_(std::make_unique<cv::Mat>()) {}

DatumDecoder::~DatumDecoder() = default;

Pixels DatumDecoder::Decode(std::string_view record) {
  Require(datum_.ParseFromArray(record.data(), static_cast<int>(record.size())), "is no Datum (",
          record.size(), " bytes)");
  return Decode(datum_);
}

Pixels DatumDecoder::Decode(const Datum& datum) {
  if (datum.encoded()) return DecodePicture(datum.data());
  Pixels pixels;
  pixels.channels = datum.channels();
  pixels.height = datum.height();
  pixels.width = datum.width();
  pixels.row_stride = pixels.width;
  pixels.channel_stride = pixels.height * pixels.width;
  const std::string& data = datum.data();
  const int64_t values = data.empty() ? datum.float_data_size() : data.size();
  // By division, for the product of three broken sizes may overflow.
  Require(pixels.channels > 0 && pixels.height > 0 && pixels.width > 0 &&
              values % pixels.channel_stride == 0 &&
              values / pixels.channel_stride == pixels.channels,
          "has ", values, data.empty() ? " floats" : " bytes", " for a shape of ", pixels.channels,
          " x ", pixels.height, " x ", pixels.width);
  if (data.empty()) {
    pixels.floats = datum.float_data().data();
  } else {
    pixels.bytes = reinterpret_cast<const uint8_t*>(data.data());
  }
  return pixels;
}

Pixels DatumDecoder::DecodePicture(const std::string& data) {
  try {
    const cv::Mat encoded(1, static_cast<int>(data.size()), CV_8U, const_cast<char*>(data.data()));
    *picture_ = data.empty() ? cv::Mat() : cv::imdecode(encoded, DecodeFlags(mode_));
  } catch (const cv::Exception& e) {
    Fail("holds a picture that cannot be decoded: ", e.err);
  }
  Require(!picture_->empty(), "holds a picture that cannot be decoded (", data.size(), " bytes)");
  Require(picture_->depth() == CV_8U, "holds a picture with more than 8 bits a channel");
  return PixelsOf(*picture_);
}

}  // namespace moka
