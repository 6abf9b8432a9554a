#include "moka/data/data_source.hpp"
#include "moka/data/transform.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of a database's records, decoded and transformed ahead of time by other threads.
/// Tops: images N x C x H x W, and labels N. Follows Caffe's Data; `shuffle` is NVIDIA's.
class DataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

  bool AssumeShapes(const BlobVector& tops) override {
    const std::vector<int64_t> image = ExpectedShape(param().transform_param());
    if (image.empty()) return false;
    const int64_t items = param().data_param().batch_size();
    tops[0]->Resize(Shape{items, image[0], image[1], image[2]});
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
