#pragma once

#include <cstdint>
#include <map>

#include "moka/data/objects.hpp"
#include "moka/tensor/blob.hpp"

namespace moka {

/// The objects of a batch by item. The blob's rows (its last axis has 8 values) are (item, label,
/// instance, xmin, ymin, xmax, ymax, difficult); a row with item -1 ends the list. Throws Error for
/// another last axis and for an object whose label is `background`.
std::map<int64_t, Objects> ReadTrueBoxes(const Blob& blob, int background);

/// Throws Error unless the last of the blob's axes has `columns` values.
void RequireRowsOf(const Blob& blob, int64_t columns, const char* what);

}  // namespace moka
