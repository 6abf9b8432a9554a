#include "moka/data/image_source.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/list_shapes.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of pictures and of the pictures of their labels, for segmentation: images N x C x H x W
/// and labels N x 1 x H x W, where each pixel is a class. Follows DenseImageData of SegNet's Caffe
/// (Badrinarayanan et al., 2015).
class DenseImageDataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

  bool AssumeShapes(const BlobVector& tops) override {
    const Shape shape = ListShape(param().dense_image_data_param(), param().transform_param());
    if (shape.axes() == 0) return false;
    tops[0]->Resize(shape);
    tops[1]->Resize(Shape{shape[0], 1, shape[2], shape[3]});
    return true;
  }

 protected:
  std::unique_ptr<Feed> MakeFeed() const override {
    return MakeDenseImageFeed(param(), phase(), seed());
  }
};

const RegisterLayer<DenseImageDataLayer> kRegistration(
    LayerInfo("DenseImageData")
        .Summary("batches from a list of pictures and label pictures")
        .Field("dense_image_data_param")
        .Bottoms(0, "none")
        .Tops(2, "images, N x C x H x W; classes, N x 1 x H x W")
        .Source());

}  // namespace
}  // namespace moka
