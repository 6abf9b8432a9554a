#pragma once

#include <memory>
#include <vector>

#include "moka/data/feed.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// How many numbers tell of an object: item, class, instance, xmin, ymin, xmax, ymax, difficult.
constexpr int64_t kObjectNumbers = 8;

/// The feed of an AnnotatedData layer (data_param, annotated_data_param, transform_param): pictures
/// C x H x W after the transformation, and for each item the rows of the objects that are left in
/// it, kObjectNumbers a row. The layer's name and `seed` determine all random choices.
///
/// Throws Error when the database cannot be opened or has no records, when the first record is no
/// AnnotatedDatum or cannot be transformed. Records with a class that is not in the label map, if
/// that file is there, are bad.
std::unique_ptr<Feed> MakeAnnotatedFeed(const LayerParameter& layer, Phase phase, uint64_t seed);

/// All objects of a batch's first `items` items, a row each; one row of -1 when there are none.
std::vector<float> ObjectRows(const Batch& batch, int64_t items);

}  // namespace moka
