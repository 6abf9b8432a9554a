#pragma once

#include <string>

namespace moka {

/// What is to be said of a file that is no prototxt at all: "this is not a text file; it seems to
/// be an HDF5 file". Empty when it may be one.
std::string WhyNotPrototxt(const std::string& text);

bool IsUtf8(const std::string& text);

/// The line of the first mark that git leaves in a file when a merge fails; 0 if there is none.
int MergeConflictLine(const std::string& text);

}  // namespace moka
