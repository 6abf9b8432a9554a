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

/// The batch size, prefetch, threads, shuffle, rand_skip and on_bad_record of a layer's data_param.
/// Throws Error when it has no batch size.
FeedOptions DataFeedOptions(const LayerParameter& layer, uint64_t seed);

/// transform_param of a layer with a data_param, whose older force_encoded_color counts.
TransformationParameter DataTransform(const LayerParameter& layer);

/// The feed of a Data layer: MakeDataSource with DataFeedOptions.
std::unique_ptr<Feed> MakeDataFeed(const LayerParameter& layer, Phase phase, uint64_t seed);

}  // namespace moka
