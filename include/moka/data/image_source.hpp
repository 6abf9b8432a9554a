#pragma once

#include <memory>

#include "moka/data/feed.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The feed of an ImageData layer (image_data_param, transform_param): the pictures of a list,
/// C x H x W after the transformation, and their labels, one number each.
///
/// Throws MissingFile when the list, its first picture or the mean is not there, Error when a label
/// is no number and when the first picture cannot be decoded or transformed.
std::unique_ptr<Feed> MakeImageFeed(const LayerParameter& layer, Phase phase, uint64_t seed);

/// The feed of a DenseImageData layer (dense_image_data_param, transform_param): the pictures of a
/// list and the pictures of their labels, 1 x H x W, each pixel a class. Crop and mirror are the
/// same for both; scale and mean leave labels alone. Throws as MakeImageFeed, and when the pictures
/// of a pair differ in size.
std::unique_ptr<Feed> MakeDenseImageFeed(const LayerParameter& layer, Phase phase, uint64_t seed);

}  // namespace moka
