#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace moka {

/// The items with `separator` between them: Join(shape, " x ") is "64 x 1 x 28 x 28".
template <typename Items>
std::string Join(const Items& items, const std::string& separator) {
  std::ostringstream stream;
  const char* between = "";
  for (const auto& item : items) {
    stream << between << item;
    between = separator.c_str();
  }
  return stream.str();
}

/// The parts of `text` between separators, in order; an empty text has no parts.
std::vector<std::string> Split(const std::string& text, char separator);

/// The text without white space at its ends.
std::string Trim(const std::string& text);

bool StartsWith(const std::string& text, const std::string& prefix);
bool EndsWith(const std::string& text, const std::string& suffix);

/// The candidate that `name` was probably meant to be, by edit distance that ignores case and
/// underscores; empty if none is near enough to be worth suggesting.
std::string NearestName(const std::string& name, const std::vector<std::string>& candidates);

/// ` (did you mean "pool1"?)`, or nothing when no candidate is near.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& candidates);

/// 1536 -> "1.5 KB", 3145728 -> "3.0 MB" (powers of 1024).
std::string HumanBytes(double bytes);

/// 431080 -> "431,080".
std::string Grouped(int64_t number);

/// 75 -> "1:15", 3725 -> "1:02:05".
std::string HumanSeconds(double seconds);

}  // namespace moka
