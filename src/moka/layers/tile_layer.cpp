#include "moka/device/for_each.hpp"
#include "moka/layers/axis_view.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct Repeat {
  int64_t tiles, length;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    y[row * length + column] = x[row / tiles * length + column];
  }
};

struct SumOfTiles {
  int64_t tiles, length;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const float* first = dy + row * tiles * length + column;
    float sum = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) sum += first[tile * length];
    dx[row * length + column] = sum;
  }
};

/// The bottom `tiles` times one behind the other along `axis`. Follows Caffe's Tile. Throws for
/// tiles below 1.
class TileLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const TileParameter& tile = param().tile_param();
    Require(tile.has_tiles(), "needs tile_param.tiles, the number of repetitions");
    Require(tile.tiles() > 0, "has tiles ", tile.tiles(), ": at least 1 is needed");
    const Shape& in = bottoms[0]->shape();
    const AxisView view = AxisView::Of(in, tile.axis());
    outer_ = view.outer;
    length_ = view.axis * view.inner;
    tops[0]->Resize(in.With(tile.axis(), view.axis * tile.tiles()));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    ForEach2D(context, outer_ * tiles(), length_,
              Repeat{tiles(), length_, x, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    ForEach2D(context, outer_, length_,
              SumOfTiles{tiles(), length_, dy, bottoms[0]->diff().Write(context)}, tiles());
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  int64_t tiles() const { return param().tile_param().tiles(); }

  int64_t outer_ = 1, length_ = 1;
};

const RegisterLayer<TileLayer> kRegistration(LayerInfo("Tile")
                                                 .Summary("a blob repeated along an axis")
                                                 .Field("tile_param")
                                                 .Bottoms(1, "any shape")
                                                 .Tops(1, "the axis `tiles` times as long"));

}  // namespace
}  // namespace moka
