#include "moka/data/window_source.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of windows of pictures, drawn at random: background first, then foreground. Tops: the
/// warped windows, N x 3 x crop_size x crop_size, and their classes, N. Scale and mean are those of
/// window_data_param and transform_param. Follows Caffe's WindowData (Girshick et al., "Rich
/// feature hierarchies for accurate object detection", CVPR 2014).
class WindowDataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

  bool AssumeShapes(const BlobVector& tops) override {
    const int64_t items = param().window_data_param().batch_size();
    const int64_t crop = param().transform_param().crop_size();
    tops[0]->Resize(Shape{items, 3, crop, crop});
    if (tops.size() > 1) tops[1]->Resize(Shape{items});
    return true;
  }

  /// Windows are drawn without end.
  int64_t records() const override { return 0; }

 protected:
  std::unique_ptr<Feed> MakeFeed() const override {
    return MakeWindowFeed(param(), phase(), seed());
  }
};

const RegisterLayer<WindowDataLayer> kRegistration(
    LayerInfo("WindowData")
        .Summary("batches of windows of pictures, foreground and background")
        .Field("window_data_param")
        .Bottoms(0, "none")
        .Tops(1, 2, "windows, N x 3 x H x W; classes, N")
        .Source());

}  // namespace
}  // namespace moka
