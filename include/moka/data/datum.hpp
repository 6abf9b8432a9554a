#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "moka/proto/moka.pb.h"

namespace cv {
class Mat;
}

namespace moka {

/// Pixels of one image, C x H x W, somewhere in memory: bytes (0 to 255) or floats. The strides
/// count elements: an encoded picture is decoded to interleaved channels (B, G, R for colour).
struct Pixels {
  int64_t channels = 0, height = 0, width = 0;
  const uint8_t* bytes = nullptr;
  const float* floats = nullptr;
  int64_t channel_stride = 0, row_stride = 0, pixel_stride = 1;
};

/// How encoded pictures are decoded: to the channels that the file has, to 3, or to 1.
enum class ColorMode { kNative, kColor, kGray };

/// Decodes records that are Datum messages. It keeps memory between records and is for one thread.
class DatumDecoder {
 public:
  explicit DatumDecoder(ColorMode mode = ColorMode::kNative);
  ~DatumDecoder();

  /// The pixels of a serialised Datum: its raw bytes, its float_data, or the JPEG, PNG, ... in it;
  /// valid until the next call. The mode is for encoded pictures only, as in Caffe.
  ///
  /// Throws Error when this is no Datum, the number of values does not fit the shape, or the
  /// picture cannot be decoded or has more than 8 bits a channel.
  Pixels Decode(std::string_view record);

  /// The same for a Datum, which has to live as long as its pixels are used.
  Pixels Decode(const Datum& datum);

  /// The label of the last serialised record, 0 when it has none.
  int label() const { return datum_.label(); }

 private:
  Pixels DecodePicture(const std::string& data);

  ColorMode mode_;
  Datum datum_;
  std::unique_ptr<cv::Mat> picture_;
};

}  // namespace moka
