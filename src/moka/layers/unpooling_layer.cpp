#include "moka/device/for_each.hpp"
#include "moka/layers/places.hpp"
#include "moka/layers/pooling.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// The middle of each window, as a place.
struct MiddlePlaces {
  PoolAxis h, w;
  float* places;
  MOKA_HD static int Middle(const PoolAxis& axis, int o) {
    const int middle = axis.Start(o) + (axis.kernel - 1) / 2;
    return middle < 0 ? 0 : middle < axis.in ? middle : axis.in - 1;
  }
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int place =
        Middle(h, static_cast<int>(row % h.out)) * w.in + Middle(w, static_cast<int>(column));
    places[row * w.out + column] = static_cast<float>(place);
  }
};

/// Times the number of places in the window, padding included.
struct TimesWindow {
  PoolAxis h, w;
  const float* from;
  float* to;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int size =
        h.PaddedLength(static_cast<int>(row % h.out)) * w.PaddedLength(static_cast<int>(column));
    to[row * w.out + column] = static_cast<float>(size) * from[row * w.out + column];
  }
};

/// Undoes a pooling of N x C x H x W images. Kernel, stride and pad are the pooling's; the top is
/// N x C x h x w with h = (H - 1) stride + kernel - 2 pad, or unpool_size.
///
/// MAX puts each value to the place of its maximum, which the second bottom (Pooling's second top)
/// has, or else to the middle of its window, and leaves 0 elsewhere; AVE spreads it over the window
/// in equal shares, TILE repeats it; where windows overlap, AVE and TILE add up. Noh et al.,
/// "Learning deconvolution network" (ICCV 2015). Throws for other than 4 axes, sizes that do not
/// fit, and places outside the output.
class UnpoolingLayer : public Layer {
 public:
  explicit UnpoolingLayer(const LayerParameter& param) : Layer(param), reader_(kPlaces) {}

  void SetUp(const BlobVector&, const BlobVector&) override {
    const UnpoolingParameter& pool = unpooling();
    Require(pool.has_kernel_size() != (pool.has_kernel_h() && pool.has_kernel_w()),
            "needs kernel_size, or kernel_h and kernel_w");
    SetAxis(pool.has_kernel_h() ? pool.kernel_h() : pool.kernel_size(),
            pool.has_stride_h() ? pool.stride_h() : pool.stride(),
            pool.has_pad_h() ? pool.pad_h() : pool.pad(), &pool_.h);
    SetAxis(pool.has_kernel_w() ? pool.kernel_w() : pool.kernel_size(),
            pool.has_stride_w() ? pool.stride_w() : pool.stride(),
            pool.has_pad_w() ? pool.pad_w() : pool.pad(), &pool_.w);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() == 4, "unpools images, N x C x H x W, but bottom \"", bottoms[0]->name(),
            "\" has shape ", in);
    const UnpoolingParameter& pool = unpooling();
    pool_.planes = in[0] * in[1];
    Fit(in[2], pool.has_unpool_h() ? pool.unpool_h() : pool.unpool_size(), &pool_.h);
    Fit(in[3], pool.has_unpool_w() ? pool.unpool_w() : pool.unpool_size(), &pool_.w);
    tops[0]->Resize({in[0], in[1], pool_.h.in, pool_.w.in});
    placed_planes_ = {pool_.planes, in[2] * in[3], int64_t{pool_.h.in} * pool_.w.in};
    middles_.Resize(in);
    if (bottoms.size() == 1) return;
    Require(bottoms[1]->shape() == in, "bottom \"", bottoms[0]->name(), "\" is ", in,
            ", but the places in bottom \"", bottoms[1]->name(), "\" are ", bottoms[1]->shape(),
            ": they must have the same shape");
  }

  bool Differentiable(int bottom) const override { return bottom == 0; }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    float* y = tops[0]->data().Write(context);
    if (unpooling().unpool() == UnpoolingParameter::MAX) {
      PutToPlaces(context, placed_planes_, Places(context, bottoms, true), x, y);
      return;
    }
    if (unpooling().unpool() == UnpoolingParameter::TILE) {
      float* whole = context.Scratch(bottoms[0]->count());
      ForEach2D(context, pool_.planes * pool_.h.out, pool_.w.out,
                TimesWindow{pool_.h, pool_.w, x, whole});
      x = whole;
    }
    AveragePoolBackward(context, pool_, true, x, y);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    if (unpooling().unpool() == UnpoolingParameter::MAX) {
      TakeFromPlaces(context, placed_planes_, Places(context, bottoms, false), dy, dx);
      return;
    }
    AveragePoolForward(context, pool_, true, dy, dx);
    if (unpooling().unpool() == UnpoolingParameter::TILE) {
      ForEach2D(context, pool_.planes * pool_.h.out, pool_.w.out,
                TimesWindow{pool_.h, pool_.w, dx, dx});
    }
  }

 private:
  const UnpoolingParameter& unpooling() const { return param().unpooling_param(); }

  static void SetAxis(uint32_t kernel, uint32_t stride, uint32_t pad, PoolAxis* axis) {
    Require(kernel > 0 && stride > 0 && pad < kernel && kernel < (1u << 20) && stride < (1u << 20),
            "has kernel ", kernel, ", stride ", stride, " and pad ", pad,
            ": kernel and stride must be positive, pad smaller than the kernel");
    axis->kernel = static_cast<int>(kernel);
    axis->stride = static_cast<int>(stride);
    axis->pad = static_cast<int>(pad);
  }

  /// `out` is the pooling's: this layer's bottom.
  static void Fit(int64_t out, int64_t stated, PoolAxis* axis) {
    const int64_t in = (out - 1) * axis->stride + axis->kernel - 2 * axis->pad;
    axis->out = static_cast<int>(out);
    axis->in = static_cast<int>(stated > 0 ? stated : in);
    axis->padded_end = axis->in + axis->pad;
    Require(axis->in > 0 && axis->Start(axis->out - 1) < axis->in, "has an output of ", axis->in,
            ", but the last of the ", out, " windows begins at ", axis->Start(axis->out - 1));
  }

  ClassLabels Places(Context& context, const BlobVector& bottoms, bool forward) {
    if (bottoms.size() > 1) {
      return forward ? reader_.Check(context, *bottoms[1], placed_planes_.size)
                     : reader_.Known(context, *bottoms[1], placed_planes_.size);
    }
    if (forward) {
      ForEach2D(context, pool_.planes * pool_.h.out, pool_.w.out,
                MiddlePlaces{pool_.h, pool_.w, middles_.Write(context)});
    }
    return {middles_.Read(context), placed_planes_.size, false, 0};
  }

  PoolPlanes pool_;
  PlacedPlanes placed_planes_;
  Tensor middles_;
  LabelReader reader_;
};

const RegisterLayer<UnpoolingLayer> kRegistration(
    LayerInfo("Unpooling")
        .Summary("puts pooled values back to the size before pooling")
        .Field("unpooling_param")
        .Bottoms(1, 2, "N x C x H x W, and the places of maxima from Pooling")
        .Tops(1, "N x C x h x w"));

}  // namespace
}  // namespace moka
