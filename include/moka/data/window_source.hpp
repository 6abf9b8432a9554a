#pragma once

#include <memory>

#include "moka/data/feed.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The feed of a WindowData layer (window_data_param, transform_param): windows of pictures, drawn
/// at random and warped to 3 x crop_size x crop_size, and the class of each. The first of a batch
/// are background (class 0), the last `batch_size * fg_fraction`, rounded down, foreground. An
/// epoch of the feed is a batch; what is drawn for it depends on the seed, the layer's name and the
/// number of the batch only.
///
/// Throws MissingFile when the window file or the mean is not there, Error for mistakes in the
/// window file and fields, and when a kind of windows that batches need does not occur.
std::unique_ptr<Feed> MakeWindowFeed(const LayerParameter& layer, Phase phase, uint64_t seed);

}  // namespace moka
