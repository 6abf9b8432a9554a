#include "moka/layers/regions.hpp"

#include <climits>

#include "moka/base/error.hpp"

namespace moka {

void RegionLayer::SetGrid(int64_t rows, int64_t columns, float scale) {
  Require(rows > 0 && columns > 0 && rows <= INT_MAX / columns, "makes grids of ", rows, " x ",
          columns, " out of regions: both numbers must be positive");
  Require(scale > 0, "spatial_scale is ", scale, ", but must be positive");
  map_.rows = static_cast<int>(rows);
  map_.columns = static_cast<int>(columns);
  scale_ = scale;
}

void RegionLayer::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  const Shape& in = bottoms[0]->shape();
  Require(in.axes() == 4, "needs a feature map, N x C x H x W, but bottom \"", bottoms[0]->name(),
          "\" has shape ", in);
  Require(in[2] * in[3] <= INT_MAX, "planes of ", in[2], " x ", in[3], " are too large");
  const Shape& regions = bottoms[1]->shape();
  Require(regions.axes() > 1 && regions.Count(1) == 5,
          "needs regions, R x 5 with (sample, x1, y1, ", "x2, y2), but bottom \"",
          bottoms[1]->name(), "\" has shape ", regions);
  map_.channels = in[1];
  map_.height = static_cast<int>(in[2]);
  map_.width = static_cast<int>(in[3]);
  tops[0]->Resize({regions[0], ChannelsOf(*bottoms[0]), map_.rows, map_.columns});
}

void RegionLayer::Backward(Context& context, const BlobVector& tops,
                           const std::vector<bool>& propagate, const BlobVector& bottoms) {
  if (!propagate[0]) return;
  if (tops[0]->count() == 0) {
    bottoms[0]->diff().SetZero();
  } else {
    BackwardOfRegions(context, tops, bottoms);
  }
}

Regions RegionLayer::CheckedRegions(Context& context, const BlobVector& bottoms) const {
  const int64_t samples = bottoms[0]->shape()[0], count = bottoms[1]->shape()[0];
  const float* values = bottoms[1]->data().Read();
  for (int64_t r = 0; r < count; ++r) {
    const float sample = values[5 * r];
    Require(sample > -1 && sample < static_cast<float>(samples), "region ", r, " of bottom \"",
            bottoms[1]->name(), "\" lies in sample ", sample, ", but bottom \"", bottoms[0]->name(),
            "\" has samples 0 to ", samples - 1);
  }
  return KnownRegions(context, bottoms);
}

Regions RegionLayer::KnownRegions(Context& context, const BlobVector& bottoms) const {
  return {bottoms[1]->data().Read(context), bottoms[1]->shape()[0], scale_};
}

}  // namespace moka
