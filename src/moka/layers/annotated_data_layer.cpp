#include <algorithm>

#include "moka/data/annotated_source.hpp"
#include "moka/data/transform.hpp"
#include "moka/layers/feed_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of pictures with boxes from a database of AnnotatedDatum records, as SSD's
/// convert_annoset writes them. Tops: pictures N x C x H x W, and boxes 1 x 1 x K x 8, a row for
/// each of the K objects in the batch: item, class, instance, xmin, ymin, xmax, ymax (shares of the
/// picture's sides), difficult. K changes from batch to batch; without any object there is one row
/// of -1.
///
/// Of each picture the samplers of annotated_data_param take one part; boxes move with the pixels
/// through all that transform_param does, and emit_constraint says which ones stay. Follows SSD's
/// AnnotatedData (Liu et al., "SSD: Single shot multibox detector", 2016).
class AnnotatedDataLayer : public FeedLayer {
 public:
  using FeedLayer::FeedLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override {
    FeedLayer::SetUp(bottoms, tops);
    if (tops.size() > 1) tops[1]->Resize(Shape{1, 1, 1, kObjectNumbers});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    FeedLayer::Forward(context, bottoms, tops);
    if (tops.size() < 2) return;
    const std::vector<float> rows = ObjectRows(batch(), tops[0]->shape()[0]);
    const auto count = static_cast<int64_t>(rows.size()) / kObjectNumbers;
    tops[1]->Resize(Shape{1, 1, count, kObjectNumbers});
    std::copy(rows.begin(), rows.end(), tops[1]->data().Write());
  }

  bool AssumeShapes(const BlobVector& tops) override {
    const std::vector<int64_t> image = ExpectedShape(param().transform_param());
    if (image.empty()) return false;
    tops[0]->Resize(Shape{param().data_param().batch_size(), image[0], image[1], image[2]});
    if (tops.size() > 1) tops[1]->Resize(Shape{1, 1, 1, kObjectNumbers});
    return true;
  }

 protected:
  std::unique_ptr<Feed> MakeFeed() const override {
    return MakeAnnotatedFeed(param(), phase(), seed());
  }
};

const RegisterLayer<AnnotatedDataLayer> kRegistration(
    LayerInfo("AnnotatedData")
        .Summary("batches of pictures with boxes, sampled and transformed together (SSD)")
        .Field("annotated_data_param")
        .Bottoms(0, "none")
        .Tops(1, 2, "pictures, N x C x H x W; boxes, 1 x 1 x K x 8")
        .Source());

}  // namespace
}  // namespace moka
