#include <algorithm>

#include "moka/data/data_source.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of a database's records, decoded and transformed ahead of time by other threads.
/// Tops: images N x C x H x W, and labels N. Follows Caffe's Data; `shuffle` is NVIDIA's.
class DataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

  /// Most nets that crop take colour images; the mean values tell otherwise.
  bool AssumeShapes(const BlobVector& tops) override {
    const TransformationParameter& transform = param().transform_param();
    const int64_t items = param().data_param().batch_size();
    const int64_t crop = transform.crop_size();
    if (crop == 0) return false;
    const int64_t channels =
        transform.force_gray() ? 1 : std::max<int64_t>(transform.mean_value_size(), 3);
    tops[0]->Resize(Shape{items, channels, crop, crop});
    if (tops.size() > 1) tops[1]->Resize(Shape{items});
    return true;
  }

 protected:
  std::unique_ptr<Feed> MakeFeed() const override { return MakeDataFeed(param(), phase(), seed()); }
};

const RegisterLayer<DataLayer> kRegistration(LayerInfo("Data")
                                                 .Summary("batches from an LMDB or LevelDB")
                                                 .Field("data_param")
                                                 .Bottoms(0, "none")
                                                 .Tops(1, 2, "images, N x C x H x W; labels, N")
                                                 .Source());

}  // namespace
}  // namespace moka
