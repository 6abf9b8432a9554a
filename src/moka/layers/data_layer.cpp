#include <cstring>

#include "moka/data/data_source.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Batches of a database's records, decoded and transformed ahead of time by other threads.
/// Tops: images N x C x H x W, and labels N. Follows Caffe's Data; `shuffle` is NVIDIA's.
class DataLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector& tops) override {
    feed_ = MakeDataFeed(param(), phase(), seed());
    const std::vector<std::vector<int64_t>> shapes = feed_->Shapes();
    for (size_t i = 0; i < tops.size(); ++i) tops[i]->Resize(Shape(shapes[i]));
  }

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

  void Reshape(const BlobVector&, const BlobVector&) override {}

  void Forward(Context&, const BlobVector&, const BlobVector& tops) override {
    feed_->Next(&batch_);
    for (size_t i = 0; i < tops.size(); ++i) {
      const BatchArray& array = batch_.arrays[i];
      tops[i]->Resize(Shape(array.shape));
      std::memcpy(tops[i]->data().Write(), array.values.data(),
                  static_cast<size_t>(tops[i]->count()) * sizeof(float));
    }
  }

  bool GetReaderState(ReaderState* state) const override {
    state->set_epoch(feed_->state().epoch);
    state->set_record(feed_->state().record);
    return true;
  }

  void SetReaderState(const ReaderState& state) override {
    feed_->SetState({state.epoch(), state.record()});
  }

  double seconds_waiting() const override { return feed_->seconds_waiting(); }
  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  std::unique_ptr<Feed> feed_;
  Batch batch_;
};

const RegisterLayer<DataLayer> kRegistration(LayerInfo("Data")
                                                 .Summary("batches from an LMDB or LevelDB")
                                                 .Field("data_param")
                                                 .Bottoms(0, "none")
                                                 .Tops(1, 2, "images, N x C x H x W; labels, N")
                                                 .Source());

}  // namespace
}  // namespace moka
