#include <cmath>

#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/layers/pooling.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// scale ^ -beta. powf does not vectorise, and nearly every net has beta 0.75.
struct AnyBeta {
  float beta;
  MOKA_HD float operator()(float scale) const { return powf(scale, -beta); }
};
struct ThreeQuarters {
  MOKA_HD float operator()(float scale) const { return 1.0f / sqrtf(scale * sqrtf(scale)); }
};

/// The channels whose values count for channel c, and where they lie.
struct ChannelWindow {
  int64_t channels, pixels;
  int64_t half;  // of local_size

  struct Range {
    int64_t begin, end;
  };
  /// For row `row` of (item, channel): the rows of its window.
  MOKA_HD Range Of(int64_t row) const {
    const int64_t c = row % channels;
    const int64_t before = c < half ? c : half;
    const int64_t after = channels - 1 - c < half ? channels - 1 - c : half;
    return {row - before, row + after + 1};
  }
};

template <typename Power>
struct AcrossForward {
  ChannelWindow window;
  Power power;
  float k, alpha;  // alpha divided by local_size
  const float* x;
  float* scale;
  float* y;
  MOKA_HD void operator()(int64_t row, int64_t pixel) const {
    const ChannelWindow::Range range = window.Of(row);
    float sum = 0;
    for (int64_t r = range.begin; r < range.end; ++r) {
      const float value = x[r * window.pixels + pixel];
      sum += value * value;
    }
    const int64_t i = row * window.pixels + pixel;
    scale[i] = k + alpha * sum;
    y[i] = x[i] * power(scale[i]);
  }
};

/// What the output of one value takes from the gradients of its neighbours, but for constants.
/// Not told by y, which a layer behind may have changed in place.
template <typename Power>
struct Ratio {
  Power power;
  const float* x;
  const float* dy;
  const float* scale;
  float* ratio;
  MOKA_HD void operator()(int64_t i) const { ratio[i] = dy[i] * x[i] * power(scale[i]) / scale[i]; }
};

template <typename Power>
struct AcrossBackward {
  ChannelWindow window;
  Power power;
  float factor;  // 2 alpha beta / local_size
  const float* x;
  const float* dy;
  const float* scale;
  const float* ratio;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t pixel) const {
    const ChannelWindow::Range range = window.Of(row);
    float sum = 0;
    for (int64_t r = range.begin; r < range.end; ++r) sum += ratio[r * window.pixels + pixel];
    const int64_t i = row * window.pixels + pixel;
    dx[i] = dy[i] * power(scale[i]) - factor * x[i] * sum;
  }
};

struct Square {
  const float* x;
  float* out;
  MOKA_HD void operator()(int64_t i) const { out[i] = x[i] * x[i]; }
};

template <typename Power>
struct WithinForward {
  Power power;
  float alpha;
  const float* x;
  float* scale;  // holds the mean square before
  float* y;
  MOKA_HD void operator()(int64_t i) const {
    scale[i] = 1.0f + alpha * scale[i];
    y[i] = x[i] * power(scale[i]);
  }
};

template <typename Power>
struct WithinBackward {
  Power power;
  float factor;  // 2 alpha beta
  const float* x;
  const float* dy;
  const float* scale;
  const float* spread;
  float* dx;
  MOKA_HD void operator()(int64_t i) const {
    dx[i] = dy[i] * power(scale[i]) - factor * x[i] * spread[i];
  }
};

/// Local response normalisation (Krizhevsky et al., NIPS 2012): y = x * scale ^ -beta with
///   ACROSS_CHANNELS  scale = k + alpha / local_size * sum of x^2 over local_size channels
///   WITHIN_CHANNEL   scale = 1 + alpha * mean of x^2 over a local_size x local_size window, with
///                    AVE pooling's rule at the edges
/// N x C x H x W. Follows Caffe's LRN, but has the right gradient in place, too. Throws for an even
/// local_size and for other than 4 axes.
class LRNLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    Require(lrn().local_size() % 2 == 1, "has local_size ", lrn().local_size(),
            ": it must be odd, to have a middle");
    Require(lrn().local_size() < (1u << 20), "has local_size ", lrn().local_size());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    SameShapeLayer::Reshape(bottoms, tops);
    const Shape& shape = bottoms[0]->shape();
    Require(shape.axes() == 4, "normalises images, N x C x H x W, but bottom \"",
            bottoms[0]->name(), "\" has shape ", shape);
    scale_.Resize(shape);
    const int size = static_cast<int>(lrn().local_size());
    window_ = {shape[1], shape[2] * shape[3], size / 2};
    const int height = static_cast<int>(shape[2]), width = static_cast<int>(shape[3]);
    pool_.planes = shape[0] * shape[1];
    pool_.h = {height, height, size, 1, size / 2, height + size / 2};
    pool_.w = {width, width, size, 1, size / 2, width + size / 2};
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    if (lrn().beta() == 0.75f) {
      ForwardBy(ThreeQuarters{}, context, *bottoms[0], tops[0]);
    } else {
      ForwardBy(AnyBeta{lrn().beta()}, context, *bottoms[0], tops[0]);
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    if (lrn().beta() == 0.75f) {
      BackwardBy(ThreeQuarters{}, context, *tops[0], bottoms[0]);
    } else {
      BackwardBy(AnyBeta{lrn().beta()}, context, *tops[0], bottoms[0]);
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    const int64_t size = lrn().local_size();
    return tops[0]->count() * (across() ? 2 * size + 3 : 2 * size * size + 3);
  }

 private:
  const LRNParameter& lrn() const { return param().lrn_param(); }
  bool across() const { return lrn().norm_region() == LRNParameter::ACROSS_CHANNELS; }

  template <typename Power>
  void ForwardBy(Power power, Context& context, const Blob& bottom, Blob* top) {
    const int64_t n = bottom.count();
    const float* x = bottom.data().Read(context);
    if (&bottom == top) {
      // In place, neighbours are still to be read when y is written, and again in Backward.
      kept_.Resize(bottom.shape());
      Copy(context, n, x, kept_.Write(context));
      x = kept_.Read(context);
    }
    float* scale = scale_.Write(context);
    float* y = top->data().Write(context);
    if (across()) {
      const float alpha = lrn().alpha() / static_cast<float>(lrn().local_size());
      ForEach2D(context, pool_.planes, window_.pixels,
                AcrossForward<Power>{window_, power, lrn().k(), alpha, x, scale, y}, 10);
    } else {
      float* squares = context.Scratch(n);
      ForEach(context, n, Square{x, squares});
      AveragePoolForward(context, pool_, true, squares, scale);
      ForEach(context, n, WithinForward<Power>{power, lrn().alpha(), x, scale, y});
    }
  }

  template <typename Power>
  void BackwardBy(Power power, Context& context, const Blob& top, Blob* bottom) {
    const int64_t n = bottom->count();
    const float* x = (bottom == &top ? kept_ : bottom->data()).Read(context);
    const float* dy = top.diff().Read(context);
    const float* scale = scale_.Read(context);
    float* dx = bottom->diff().Write(context);
    float* ratio = context.Scratch(2 * n);
    ForEach(context, n, Ratio<Power>{power, x, dy, scale, ratio});
    const float factor = 2.0f * lrn().alpha() * lrn().beta();
    if (across()) {
      const float share = factor / static_cast<float>(lrn().local_size());
      ForEach2D(context, pool_.planes, window_.pixels,
                AcrossBackward<Power>{window_, power, share, x, dy, scale, ratio, dx}, 10);
    } else {
      float* spread = ratio + n;
      AveragePoolBackward(context, pool_, true, ratio, spread);
      ForEach(context, n, WithinBackward<Power>{power, factor, x, dy, scale, spread, dx});
    }
  }

  ChannelWindow window_ = {};
  PoolPlanes pool_;
  Tensor scale_;
  Tensor kept_;  // x, in place
};

const RegisterLayer<LRNLayer> kRegistration(
    LayerInfo("LRN")
        .Summary("each value divided by a norm of its neighbours")
        .Field("lrn_param")
        .Bottoms(1, "N x C x H x W")
        .Tops(1, "the same shape")
        .InPlace());

}  // namespace
}  // namespace moka
