#include "moka/layers/picture_sizes.hpp"

#include <sstream>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"

namespace moka {
namespace {

Box Scaled(const Box& box, float height, float width) {
  return {box.xmin * width, box.ymin * height, box.xmax * width, box.ymax * height};
}

/// Where the picture lies in what it was padded to.
Box UnpaddedPart(const PictureSize& picture, float height, float width) {
  const float aspect = picture.width / picture.height;
  if (aspect > width / height) {
    const float edge = (height - width / aspect) / 2 / height;
    return {0, edge, 1, 1 - edge};
  }
  const float edge = (width - height * aspect) / 2 / width;
  return {edge, 0, 1 - edge, 1};
}

}  // namespace

std::vector<PictureSize> ReadPictureSizes(const std::string& path) {
  std::istringstream lines(ReadFile(path));
  std::vector<PictureSize> pictures;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(line);
    PictureSize picture;
    words >> picture.name >> picture.height >> picture.width;
    Require(!words.fail() && picture.height > 0 && picture.width > 0, path, ":", number, ": \"",
            line, "\" is not a picture's name, height and width");
    pictures.push_back(picture);
  }
  return pictures;
}

Box InPixels(const Box& box, const PictureSize& picture, const ResizeParameter& resize) {
  switch (resize.resize_mode()) {
    case ResizeParameter::FIT_LARGE_SIZE_AND_PAD: {
      const Box part = UnpaddedPart(picture, static_cast<float>(resize.height()),
                                    static_cast<float>(resize.width()));
      return Scaled(Clip(Relative(box, part)), picture.height, picture.width);
    }
    case ResizeParameter::FIT_SMALL_SIZE:
    case ResizeParameter::WARP:
      break;
  }
  return Scaled(Clip(box), picture.height, picture.width);
}

}  // namespace moka
