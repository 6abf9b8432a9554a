#include <cmath>

#include "moka/base/error.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/broadcast.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Which inverse norm belongs to a value: that of its item, or of its place in its item.
template <bool kAcrossSpatial>
struct Inverses {
  const float* inverse;
  int64_t channels, places;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const int64_t item = row / channels;
    return inverse[kAcrossSpatial ? item : item * places + column];
  }
};

struct LoadSquare {
  const float* x;
  int64_t columns;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const float value = x[row * columns + column];
    return value * value;
  }
};

struct StoreInverseNorm {
  float* inverse;
  float eps;
  MOKA_HD void operator()(int64_t i, float sum) const { inverse[i] = 1.0f / sqrtf(sum + eps); }
};

/// The learned scale of a row of one place after the other: a row for each channel.
struct ScaleOfRow {
  const float* scale;
  int64_t channels;
  bool shared;
  MOKA_HD float operator()(int64_t row) const { return scale[shared ? 0 : row % channels]; }
};

template <bool kAcrossSpatial>
struct NormalizeElement {
  Inverses<kAcrossSpatial> inverses;
  ScaleOfRow scale;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * inverses.places + column;
    y[i] = x[i] * inverses(row, column) * scale(row);
  }
};

/// How much the norms would change: scale * dy * x.
struct LoadPull {
  ScaleOfRow scale;
  const float* x;
  const float* dy;
  int64_t places;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const int64_t i = row * places + column;
    return scale(row) * dy[i] * x[i];
  }
};

/// The sum over inverse norm ^ -3, which dx multiplies x by.
struct StorePull {
  const float* inverse;
  float* pull;
  MOKA_HD void operator()(int64_t i, float sum) const {
    pull[i] = sum * inverse[i] * inverse[i] * inverse[i];
  }
};

template <bool kAcrossSpatial>
struct NormalizeGradient {
  Inverses<kAcrossSpatial> inverses;
  Inverses<kAcrossSpatial> pulls;
  ScaleOfRow scale;
  const float* x;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * inverses.places + column;
    dx[i] = scale(row) * dy[i] * inverses(row, column) - x[i] * pulls(row, column);
  }
};

template <bool kAcrossSpatial>
struct LoadScaleGradient {
  Inverses<kAcrossSpatial> inverses;
  const float* x;
  const float* dy;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const int64_t i = row * inverses.places + column;
    return dy[i] * x[i] * inverses(row, column);
  }
};

/// y = scale * x / sqrt(sum x^2 + eps). The sum runs over a whole item with across_spatial, else
/// over the channels of each place. `scale` is learned: one number, or one a channel without
/// channel_shared; 1 at first unless `scale_filler` says otherwise.
///
/// Bottom N x C x ... with at least two axes. Liu et al., ParseNet (2015), as in SSD's Caffe, whose
/// gradient leaves out that channels of different scales pull on their common norm differently.
class NormalizeLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const Shape& shape = bottoms[0]->shape();
    Require(shape.axes() > 1, "needs a bottom with channels, N x C x ..., not ", shape);
    FillerParameter filler = norm().scale_filler();
    if (!norm().has_scale_filler()) filler.set_value(1);
    AddParam(OperandShape(shape, 1, norm().channel_shared() ? 0 : 1), filler);
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    SameShapeLayer::Reshape(bottoms, tops);
    const Shape& shape = bottoms[0]->shape();
    OperandView(shape, param_blob(0).shape(), 1);
    view_ = AxisView::Of(shape, 1);
    const int64_t norms = view_.outer * (norm().across_spatial() ? 1 : view_.inner);
    inverse_.Resize({norms});
    pull_.Resize({norms});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    float* inverse = inverse_.Write(context);
    if (norm().across_spatial()) {
      const int64_t columns = view_.axis * view_.inner;
      ReduceRows<SumOf>(context, view_.outer, columns, LoadSquare{x, columns},
                        StoreInverseNorm{inverse, norm().eps()});
      Scale<true>(context, x, tops);
    } else {
      const int64_t size = view_.axis * view_.inner;
      ForItems(context, view_.outer, [&](Context& own, int64_t item, int) {
        ReduceColumns<SumOf>(own, view_.axis, view_.inner, LoadSquare{x + item * size, view_.inner},
                             StoreInverseNorm{inverse + item * view_.inner, norm().eps()});
      });
      Scale<false>(context, x, tops);
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const float* x = bottoms[0]->data().Read(context);
    const float* dy = tops[0]->diff().Read(context);
    if (norm().across_spatial()) {
      if (param_propagate(0)) ScaleGradient<true>(context, x, dy);
      if (propagate[0]) BottomGradient<true>(context, x, dy, bottoms);
    } else {
      if (param_propagate(0)) ScaleGradient<false>(context, x, dy);
      if (propagate[0]) BottomGradient<false>(context, x, dy, bottoms);
    }
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return 4 * bottoms[0]->count();
  }

 private:
  const NormalizeParameter& norm() const { return param().norm_param(); }

  ScaleOfRow Scales(Context& context) {
    return {param_blob(0).data().Read(context), view_.axis, norm().channel_shared()};
  }

  template <bool kAcrossSpatial>
  Inverses<kAcrossSpatial> Of(const float* values) const {
    return {values, view_.axis, view_.inner};
  }

  template <bool kAcrossSpatial>
  void Scale(Context& context, const float* x, const BlobVector& tops) {
    const auto inverses = Of<kAcrossSpatial>(inverse_.Read(context));
    const ScaleOfRow scale = Scales(context);
    ForEach2D(context, view_.outer * view_.axis, view_.inner,
              NormalizeElement<kAcrossSpatial>{inverses, scale, x, tops[0]->data().Write(context)});
  }

  template <bool kAcrossSpatial>
  void ScaleGradient(Context& context, const float* x, const float* dy) {
    const auto inverses = Of<kAcrossSpatial>(inverse_.Read(context));
    const int64_t rows = view_.outer * view_.axis;
    float* sums = context.Scratch(rows);
    ReduceRows<SumOf>(context, rows, view_.inner,
                      LoadScaleGradient<kAcrossSpatial>{inverses, x, dy}, StoreScaled{sums, 1, 0});
    const StoreScaled store = StoreGradient(context, &param_blob(0), true);
    if (norm().channel_shared()) {
      ReduceRows<SumOf>(context, 1, rows, LoadRowMajor{sums, rows}, store);
    } else {
      ReduceColumns<SumOf>(context, view_.outer, view_.axis, LoadRowMajor{sums, view_.axis}, store);
    }
  }

  template <bool kAcrossSpatial>
  void BottomGradient(Context& context, const float* x, const float* dy,
                      const BlobVector& bottoms) {
    const float* inverse = inverse_.Read(context);
    const ScaleOfRow scale = Scales(context);
    float* pull = pull_.Write(context);
    const int64_t size = view_.axis * view_.inner;
    if (kAcrossSpatial) {
      float* sums = context.Scratch(view_.outer * view_.axis);
      ReduceRows<SumOf>(context, view_.outer * view_.axis, view_.inner,
                        LoadPull{scale, x, dy, view_.inner}, StoreScaled{sums, 1, 0});
      ReduceRows<SumOf>(context, view_.outer, view_.axis, LoadRowMajor{sums, view_.axis},
                        StorePull{inverse, pull});
    } else {
      ForItems(context, view_.outer, [&](Context& own, int64_t item, int) {
        ReduceColumns<SumOf>(own, view_.axis, view_.inner,
                             LoadPull{scale, x + item * size, dy + item * size, view_.inner},
                             StorePull{inverse + item * view_.inner, pull + item * view_.inner});
      });
    }
    ForEach2D(
        context, view_.outer * view_.axis, view_.inner,
        NormalizeGradient<kAcrossSpatial>{Of<kAcrossSpatial>(inverse), Of<kAcrossSpatial>(pull),
                                          scale, x, dy, bottoms[0]->diff().Write(context)});
  }

  AxisView view_;
  Tensor inverse_;  // 1 / sqrt(sum x^2 + eps)
  Tensor pull_;     // sum of scale dy x, times inverse^3
};

const RegisterLayer<NormalizeLayer> kRegistration(
    LayerInfo("Normalize")
        .Summary("divides by the L2 norm and multiplies by a learned scale")
        .Field("norm_param")
        .Bottoms(1, "N x C x ...")
        .Tops(1, "the same shape"));

}  // namespace
}  // namespace moka
