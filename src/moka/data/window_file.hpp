#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moka {

/// A box in a picture, its corners included, and how much of an object of its class it covers.
struct Window {
  int64_t line = 0;  ///< of the window file
  int64_t image = 0;
  int label = 0;
  float overlap = 0;
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};

/// Pictures and windows in them, as R-CNN (Girshick et al., CVPR 2014) writes them down: for each
/// picture
///
///     # number
///     path
///     channels
///     height
///     width
///     number of windows
///     class overlap left top right bottom     (a line a window)
struct WindowFile {
  std::vector<std::string> images;
  std::vector<Window> windows;
};

/// Throws MissingFile when there is no such file, Error with the line for what is wrong in it.
WindowFile ReadWindowFile(const std::string& path);

}  // namespace moka
