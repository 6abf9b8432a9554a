#include "moka/data/image_source.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/list_shapes.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of the pictures that a list names, decoded, resized and transformed ahead of time by
/// other threads. Tops: images N x C x H x W, and labels N. With a batch size of 1 the pictures may
/// have any sizes. Follows Caffe's ImageData; the order is drawn anew for each epoch.
class ImageDataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

  bool AssumeShapes(const BlobVector& tops) override {
    const Shape shape = ListShape(param().image_data_param(), param().transform_param());
    if (shape.axes() == 0) return false;
    tops[0]->Resize(shape);
    if (tops.size() > 1) tops[1]->Resize(Shape{shape[0]});
    return true;
  }

 protected:
  std::unique_ptr<Feed> MakeFeed() const override {
    return MakeImageFeed(param(), phase(), seed());
  }
};

const RegisterLayer<ImageDataLayer> kRegistration(LayerInfo("ImageData")
                                                      .Summary("batches from a list of pictures")
                                                      .Field("image_data_param")
                                                      .Bottoms(0, "none")
                                                      .Tops(1, 2,
                                                            "images, N x C x H x W; labels, N")
                                                      .Source());

}  // namespace
}  // namespace moka
