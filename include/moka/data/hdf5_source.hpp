#pragma once

#include <memory>

#include "moka/data/feed.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The feed of an HDF5Data layer: the files that the list `source` names, one after the other, and
/// of each the rows (first axis) of the arrays that are named like the layer's tops. Rows are read
/// in pieces of a few megabytes, so that files may be larger than memory; with `shuffle`, row by
/// row in an order drawn anew for each epoch.
///
/// Throws Error when the list or a file is missing or empty, when arrays of a file differ in their
/// number of rows, and when files differ in the shape of a row.
std::unique_ptr<Feed> MakeHdf5Feed(const LayerParameter& layer, uint64_t seed);

}  // namespace moka
