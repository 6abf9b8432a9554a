#include "moka/data/source.hpp"

#include <functional>
#include <numeric>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {

float* Slot::Place(size_t top, const std::vector<int64_t>& shape) const {
  BatchArray& array = batch_->arrays[top];
  const int64_t size =
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
  const std::vector<int64_t> expected(array.shape.begin() + 1, array.shape.end());
  if (shape != expected) {
    if (batch_size_ > 1) {
      throw Error(Text("has shape ", Join(shape, " x "), ", but the first record has ",
                       Join(expected, " x "), ", and the items of a batch of ", batch_size_,
                       " must be alike"))
          .Hint("crop_size makes images alike; batch_size: 1 takes any");
    }
    array.shape.assign(1, 1);
    array.shape.insert(array.shape.end(), shape.begin(), shape.end());
    array.values.Resize(size);
  }
  return array.values.data() + item_ * size;
}

}  // namespace moka
