#include "moka/data/picture_datum.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <utility>
#include <vector>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/data/picture.hpp"

namespace moka {
namespace {

std::string LowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "png" for "some/file.PNG".
std::string ExtensionOf(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return LowerCase(extension.empty() ? extension : extension.substr(1));
}

bool SameType(const std::string& a, const std::string& b) {
  const auto is_jpeg = [](const std::string& type) { return type == "jpg" || type == "jpeg"; };
  return a == b || (is_jpeg(a) && is_jpeg(b));
}

std::string Encode(const cv::Mat& picture, const std::string& type) {
  std::vector<uint8_t> bytes;
  try {
    Require(cv::imencode("." + type, picture, bytes), "cannot be encoded as ", type);
  } catch (const cv::Exception& e) {
    Fail("cannot be encoded as \"", type, "\": ", e.err);
  }
  return {bytes.begin(), bytes.end()};
}

/// The pixels as planes, one a channel.
std::string PlanesOf(const cv::Mat& picture) {
  const Pixels pixels = PixelsOf(picture);
  std::string planes(pixels.channels * pixels.height * pixels.width, 0);
  char* to = planes.data();
  for (int64_t c = 0; c < pixels.channels; ++c) {
    for (int64_t y = 0; y < pixels.height; ++y) {
      const uint8_t* from = pixels.bytes + y * pixels.row_stride + c;
      for (int64_t x = 0; x < pixels.width; ++x) {
        *to++ = static_cast<char>(from[x * pixels.pixel_stride]);
      }
    }
  }
  return planes;
}

Datum MakeDatum(std::string file, const std::string& extension, int label,
                const PictureDatumOptions& options) {
  cv::Mat picture = DecodePicture(file, options.gray ? ColorMode::kGray : ColorMode::kColor);
  Datum datum;
  datum.set_label(label);
  datum.set_encoded(options.encoded);
  if (options.encoded) {
    const std::string type =
        options.encode_type.empty() ? extension : LowerCase(options.encode_type);
    if (options.height == 0 && SameType(extension, type)) {
      *datum.mutable_data() = std::move(file);
    } else {
      ResizePicture(options.height, options.width, &picture);
      *datum.mutable_data() = Encode(picture, type);
    }
  } else {
    ResizePicture(options.height, options.width, &picture);
    datum.set_channels(picture.channels());
    datum.set_height(picture.rows);
    datum.set_width(picture.cols);
    *datum.mutable_data() = PlanesOf(picture);
  }
  return datum;
}

}  // namespace

Datum ReadPictureDatum(const std::string& path, int label, const PictureDatumOptions& options) {
  std::string file = ReadFile(path);
  try {
    return MakeDatum(std::move(file), ExtensionOf(path), label, options);
  } catch (Error& error) {
    error.In(path);
    throw;
  }
}

}  // namespace moka
