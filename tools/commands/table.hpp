#pragma once

#include <string>
#include <vector>

namespace moka {

/// Text in columns: those of numbers are aligned at the right, the others at the left.
class Table {
 public:
  /// `alignment`: a letter a column, 'l' or 'r'.
  explicit Table(const std::string& alignment) : alignment_(alignment) {}

  void Add(const std::vector<std::string>& row) { rows_.push_back(row); }

  /// A line across the table.
  void AddLine() { rows_.emplace_back(); }

  std::string ToString() const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

/// The number with so many digits behind the point.
std::string Fixed(double value, int digits);

}  // namespace moka
