#include "moka/layers/boxes.hpp"

#include <algorithm>

namespace moka {

std::vector<int64_t> KeepApart(const std::vector<Box>& boxes, float threshold, int64_t most,
                               float eta) {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < boxes.size() && static_cast<int64_t>(kept.size()) < most; ++i) {
    const auto hides = [&](int64_t better) { return Overlap(boxes[better], boxes[i]) > threshold; };
    if (std::any_of(kept.begin(), kept.end(), hides)) continue;
    kept.push_back(static_cast<int64_t>(i));
    if (eta < 1 && threshold > 0.5f) threshold *= eta;
  }
  return kept;
}

std::vector<int64_t> BestFirst(const std::vector<float>& scores, float least, int64_t most) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > least) order.push_back(static_cast<int64_t>(i));
  }
  const auto better = [&](int64_t a, int64_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  };
  const auto count = std::min(most, static_cast<int64_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), better);
  order.resize(count);
  return order;
}

}  // namespace moka
