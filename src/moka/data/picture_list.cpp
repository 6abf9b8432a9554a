#include "moka/data/picture_list.hpp"

#include <charconv>
#include <sstream>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {

std::vector<PictureLine> ReadPictureList(const std::string& path) {
  std::istringstream text(ReadFile(path));
  std::vector<PictureLine> lines;
  int64_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    line = Trim(line);
    if (line.empty()) continue;
    const size_t blank = line.find_last_of(" \t");
    if (blank == std::string::npos) {
      lines.push_back({number, line, ""});
    } else {
      lines.push_back({number, Trim(line.substr(0, blank)), line.substr(blank + 1)});
    }
  }
  Require(!lines.empty(), path, ": the list is empty: a line is a path, a blank and a label");
  return lines;
}

int LabelOf(const PictureLine& line) {
  Require(!line.label.empty(), "has no label: a line is a path, a blank and a label");
  int label = 0;
  const char* end = line.label.data() + line.label.size();
  const auto [stopped, failure] = std::from_chars(line.label.data(), end, label);
  Require(failure == std::errc() && stopped == end, "the label, \"", line.label,
          "\", is no whole number");
  return label;
}

}  // namespace moka
