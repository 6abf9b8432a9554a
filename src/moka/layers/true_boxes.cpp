#include "moka/layers/true_boxes.hpp"

#include "moka/base/error.hpp"

namespace moka {

void RequireRowsOf(const Blob& blob, int64_t columns, const char* what) {
  const Shape& shape = blob.shape();
  Require(shape.axes() > 0 && shape[shape.axes() - 1] == columns, "bottom \"", blob.name(),
          "\" has shape ", shape, ", but ", what, " have ", columns, " values a row");
}

std::map<int64_t, Objects> ReadTrueBoxes(const Blob& blob, int background) {
  std::map<int64_t, Objects> truths;
  const float* data = blob.data().Read();
  for (const float* row = data; row < data + blob.count(); row += 8) {
    const auto item = static_cast<int64_t>(row[0]);
    if (item == -1) break;
    const int label = static_cast<int>(row[1]);
    Require(label != background, "an object in \"", blob.name(), "\" (item ", item,
            ") has the label of the background, ", background);
    truths[item].push_back(
        {label, static_cast<int>(row[2]), row[7] != 0, {row[3], row[4], row[5], row[6]}});
  }
  return truths;
}

}  // namespace moka
