#include "moka/layers/filler.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Blobs from fillers, for tests and timing: one shape and one data_filler for all tops, or one
/// each; no filler gives zeros. Random values are drawn anew in every pass. `num`, `channels`,
/// `height` and `width` are the older way to give 4-axis shapes. Follows Caffe's DummyData.
///
/// Throws for numbers of shapes or fillers that do not fit the tops.
class DummyDataLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector& tops) override {
    const DummyDataParameter& dummy = param().dummy_data_param();
    CheckNumber("data_filler", dummy.data_filler_size(), tops.size(), true);
    const int older =
        dummy.num_size() + dummy.channels_size() + dummy.height_size() + dummy.width_size();
    Require(older == 0 || dummy.shape_size() == 0,
            "has both shape and num, channels, height or width: give one of them");
    if (older == 0) {
      CheckNumber("shape", dummy.shape_size(), tops.size(), false);
    } else {
      CheckNumber("num", dummy.num_size(), tops.size(), false);
      CheckNumber("channels", dummy.channels_size(), tops.size(), false);
      CheckNumber("height", dummy.height_size(), tops.size(), false);
      CheckNumber("width", dummy.width_size(), tops.size(), false);
    }
    for (int i = 0; i < static_cast<int>(tops.size()); ++i) {
      tops[i]->Resize(older == 0 ? ShapeOf(i) : OlderShapeOf(i));
    }
  }

  void Reshape(const BlobVector&, const BlobVector&) override {}

  void Forward(Context& context, const BlobVector&, const BlobVector& tops) override {
    const DummyDataParameter& dummy = param().dummy_data_param();
    for (int i = 0; i < static_cast<int>(tops.size()); ++i) {
      const int fillers = dummy.data_filler_size();
      const FillerParameter filler =
          fillers == 0 ? FillerParameter() : dummy.data_filler(fillers == 1 ? 0 : i);
      if (filler.type() == "constant" && tops[i]->data().written()) continue;
      const uint64_t stream = StreamOf(Text(param().name(), "/", i, "/", pass()));
      FillBlob(context, filler, Philox::For(seed(), stream), tops[i]);
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  static void CheckNumber(const std::string& field, int given, size_t tops, bool may_miss) {
    Require((given == 0 && may_miss) || given == 1 || given == static_cast<int>(tops), "has ",
            given, " ", field, "(s) for ", tops, " top(s): give one for all, or one for each");
  }

  Shape ShapeOf(int top) const {
    const DummyDataParameter& dummy = param().dummy_data_param();
    const BlobShape& shape = dummy.shape(dummy.shape_size() == 1 ? 0 : top);
    return Shape(std::vector<int64_t>(shape.dim().begin(), shape.dim().end()));
  }

  Shape OlderShapeOf(int top) const {
    const DummyDataParameter& dummy = param().dummy_data_param();
    return {dummy.num(dummy.num_size() == 1 ? 0 : top),
            dummy.channels(dummy.channels_size() == 1 ? 0 : top),
            dummy.height(dummy.height_size() == 1 ? 0 : top),
            dummy.width(dummy.width_size() == 1 ? 0 : top)};
  }
};

const RegisterLayer<DummyDataLayer> kRegistration(
    LayerInfo("DummyData")
        .Summary("blobs filled by fillers, for tests and timing")
        .Field("dummy_data_param")
        .Bottoms(0, "none")
        .Tops(1, Arity::kAny, "blobs of the given shapes")
        .Source());

}  // namespace
}  // namespace moka
