#pragma once

#include <memory>

#include "moka/data/feed.hpp"
#include "moka/data/source.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The records that a Data layer reads (data_param, transform_param): images C x H x W after the
/// transformation and, if the layer has a second top, one label each. The shape of the images is
/// that of the first record. The layer's name and `seed` determine all random choices.
///
/// Throws Error when the database cannot be opened or has no records, or when the first record
/// cannot be decoded or transformed.
std::shared_ptr<const Source> MakeDataSource(const LayerParameter& layer, Phase phase,
                                             uint64_t seed);

/// The feed of a Data layer: MakeDataSource with the batch size, prefetch, threads, shuffle,
/// rand_skip and on_bad_record of its data_param.
std::unique_ptr<Feed> MakeDataFeed(const LayerParameter& layer, Phase phase, uint64_t seed);

}  // namespace moka
