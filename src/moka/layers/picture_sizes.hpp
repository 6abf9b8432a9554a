#pragma once

#include <string>
#include <vector>

#include "moka/data/box.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// A picture as it was before it was resized for a net.
struct PictureSize {
  std::string name;
  float height = 0, width = 0;  // in pixels
};

/// The pictures of a text file with a line `name height width` for each. Throws Error with the line
/// of a mistake, MissingFile when there is no such file.
std::vector<PictureSize> ReadPictureSizes(const std::string& path);

/// A box of a resized picture, as shares of it, in pixels of the picture as it was: clipped to the
/// picture. `resize` says how it was resized; without a mode, both sides were just brought to size.
Box InPixels(const Box& box, const PictureSize& picture, const ResizeParameter& resize);

}  // namespace moka
