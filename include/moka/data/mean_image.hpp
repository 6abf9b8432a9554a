#pragma once

#include <cstdint>
#include <functional>

#include "moka/data/database.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The mean of all records of a database, 1 x C x H x W in the old fields num, channels, height and
/// width, as Caffe's compute_image_mean writes it: summed in float32 in the order of the keys, so
/// that the last bit does not depend on the threads. `progress`, if any, gets the number of records
/// that are summed.
///
/// Throws Error for a database without records, and names a record that is bad or of another shape
/// than the first.
BlobProto ComputeMeanImage(const Database& database, int threads,
                           const std::function<void(int64_t records)>& progress = nullptr);

}  // namespace moka
