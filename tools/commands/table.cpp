#include "table.hpp"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <sstream>

namespace moka {

std::string Table::ToString() const {
  constexpr size_t kBetween = 2;
  std::vector<size_t> widths(alignment_.size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const size_t all = std::accumulate(widths.begin(), widths.end(), kBetween * (widths.size() - 1));
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line = row.empty() ? std::string(all, '-') : "";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? std::string(kBetween, ' ') : "") +
              (alignment_[i] == 'r' ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

}  // namespace moka
