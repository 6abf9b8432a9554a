#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moka {

/// A line of a list of pictures: a path, and after the last blank of the line its label.
struct PictureLine {
  int64_t number = 0;  ///< counted from 1
  std::string path;
  std::string label;  ///< empty where the line has none
};

/// The lines of the list in file `path`, without those that are blank. Paths may contain blanks.
///
/// Throws MissingFile when there is no such file, Error when it holds no line.
std::vector<PictureLine> ReadPictureList(const std::string& path);

/// The label as a number. Throws Error when it is missing or no whole number of 32 bits.
int LabelOf(const PictureLine& line);

}  // namespace moka
