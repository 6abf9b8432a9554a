#pragma once

#include <string>

#include "moka/proto/moka.pb.h"

namespace moka {

/// How a picture file becomes a Datum, as Caffe's convert_imageset does it.
struct PictureDatumOptions {
  bool gray = false;          ///< one channel in place of three (blue, green, red)
  int height = 0, width = 0;  ///< resized to, unless 0
  /// Store the picture compressed, with the extension of its file or `encode_type` ("png", "jpg").
  /// A file that is so already and is not resized is copied byte for byte, whatever its colours.
  bool encoded = false;
  std::string encode_type;
};

/// The picture in file `path` with its label. Raw pixels have a shape, C x H x W; compressed ones
/// have none. Throws Error with the path when it cannot be read, decoded or encoded.
Datum ReadPictureDatum(const std::string& path, int label, const PictureDatumOptions& options);

}  // namespace moka
