#include "moka/device/math.hpp"
#include "moka/layers/axis_slices.hpp"
#include "moka/layers/pooling.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// One axis in `bins` windows that do not overlap, with the rest as padding on both sides.
PoolAxis Divide(int64_t length, int bins) {
  PoolAxis axis;
  axis.in = static_cast<int>(length);
  axis.kernel = axis.stride = (axis.in + bins - 1) / bins;
  axis.pad = (axis.kernel * bins - axis.in + 1) / 2;
  axis.padded_end = axis.in + axis.pad;
  return axis;
}

/// Spatial pyramid pooling (He et al., ECCV 2014): MAX or AVE pooling to 1 x 1, 2 x 2, 4 x 4, ...
/// bins, `pyramid_height` times, so that images of any size give the same number of values:
/// N x C x H x W becomes N x C (4^height - 1) / 3, the levels one behind the other. (With height 1,
/// N x C x 1 x 1.) Follows Caffe's SPP. Throws for an image too small for its bins.
class SPPLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const SPPParameter& spp = param().spp_param();
    Require(spp.pyramid_height() >= 1 && spp.pyramid_height() <= 12,
            "needs spp_param.pyramid_height, 1 to 12, not ", spp.pyramid_height());
    Require(spp.pool() != SPPParameter::STOCHASTIC, "pools by MAX or AVE, not by STOCHASTIC");
    levels_.resize(spp.pyramid_height());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() == 4, "pools images, N x C x H x W, but bottom \"", bottoms[0]->name(),
            "\" has shape ", in);
    int64_t values = 0;
    for (size_t i = 0; i < levels_.size(); ++i) {
      Fit(in, 1 << i, &levels_[i]);
      values += levels_[i].output.shape().Count(1);
    }
    tops[0]->Resize(levels_.size() == 1 ? levels_[0].output.shape() : Shape{in[0], values});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    float* y = tops[0]->data().Write(context);
    int64_t begin = 0;
    for (Level& level : levels_) {
      float* output = level.output.Write(context);
      if (max()) {
        MaxPoolForward(context, level.pool, x, output,
                       reinterpret_cast<int32_t*>(level.mask.Write(context)));
      } else {
        AveragePoolForward(context, level.pool, true, x, output);
      }
      const AxisView part = PartOf(level);
      CopyIntoAxis(context, part, output, tops[0]->shape().Count(1), begin, y);
      begin += part.axis;
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    float* sum = bottoms[0]->diff().Write(context);
    float* scratch = context.Scratch(bottoms[0]->count());
    int64_t begin = 0;
    for (Level& level : levels_) {
      const AxisView part = PartOf(level);
      float* of_level = level.output.Write(context);
      CopyFromAxis(context, part, dy, tops[0]->shape().Count(1), begin, of_level);
      float* dx = begin == 0 ? sum : scratch;
      if (max()) {
        const auto* mask = reinterpret_cast<const int32_t*>(level.mask.Read(context));
        MaskedPoolBackward(context, level.pool, mask, of_level, dx);
      } else {
        AveragePoolBackward(context, level.pool, true, of_level, dx);
      }
      if (begin > 0) Axpby(context, bottoms[0]->count(), 1, scratch, 1, sum);
      begin += part.axis;
    }
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return bottoms[0]->count() * static_cast<int64_t>(levels_.size());
  }

 private:
  struct Level {
    PoolPlanes pool;
    Tensor output;  // its part of the top; in Backward, of the top's gradient
    Tensor mask;    // 32-bit whole numbers in the memory of floats
  };

  bool max() const { return param().spp_param().pool() == SPPParameter::MAX; }

  static AxisView PartOf(const Level& level) {
    return {level.output.shape()[0], level.output.shape().Count(1), 1};
  }

  static void Fit(const Shape& in, int bins, Level* level) {
    PoolPlanes& pool = level->pool;
    pool.planes = in[0] * in[1];
    pool.h = Divide(in[2], bins);
    pool.w = Divide(in[3], bins);
    Require(pool.h.pad < pool.h.kernel && pool.w.pad < pool.w.kernel, "bottom shape ", in,
            " is too small for ", bins, " x ", bins, " bins: lower pyramid_height");
    const bool padded = pool.h.pad + pool.w.pad > 0;
    pool.h.out = PoolOutputs(pool.h, padded, false);
    pool.w.out = PoolOutputs(pool.w, padded, false);
    level->output.Resize({in[0], in[1], pool.h.out, pool.w.out});
    level->mask.Resize(level->output.shape());
  }

  std::vector<Level> levels_;
};

const RegisterLayer<SPPLayer> kRegistration(
    LayerInfo("SPP")
        .Summary("pooling to grids of 1, 4, 16, ... bins, for images of any size")
        .Field("spp_param")
        .Bottoms(1, "N x C x H x W")
        .Tops(1, "N x C (4^height - 1) / 3"));

}  // namespace
}  // namespace moka
