#pragma once

#include <cstdint>
#include <vector>

#include "moka/data/box.hpp"

namespace moka {

/// Greedy non-maximum suppression of boxes that come best first: the positions of those that
/// overlap (intersection / union) no better one that is kept by more than `threshold`; `most` at
/// most. `eta` is a factor on the threshold after each kept box, while the threshold is above 0.5.
std::vector<int64_t> KeepApart(const std::vector<Box>& boxes, float threshold,
                               int64_t most = INT64_MAX, float eta = 1);

/// Positions of the scores above `least`, best first and equal ones in their order; `most` at most.
std::vector<int64_t> BestFirst(const std::vector<float>& scores, float least,
                               int64_t most = INT64_MAX);

}  // namespace moka
