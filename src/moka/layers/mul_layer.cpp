#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Where the smaller factor's value for element (outer, axis, inner) of the larger one lies.
struct FactorAt {
  AxisView view;
  int64_t outer, axis, inner;  // strides
  MOKA_HD int64_t operator()(int64_t row, int64_t column) const {
    return row / view.axis * outer + row % view.axis * axis + column * inner;
  }
};

/// A row is one (outer, axis).
struct MultiplyRows {
  FactorAt at;
  const float* x;
  const float* factor;
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * at.view.inner + column;
    out[i] = x[i] * factor[at(row, column)];
  }
};

/// The sum over the middle axis, where the factor is the same for all of it.
struct SumOverAxis {
  AxisView view;
  const float* x;
  const float* dy;
  float* sum;
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    float value = 0;
    for (int64_t axis = 0; axis < view.axis; ++axis) {
      const int64_t i = (outer * view.axis + axis) * view.inner + inner;
      value += x[i] * dy[i];
    }
    sum[outer * view.inner + inner] = value;
  }
};

/// The product of two blobs. Where one has an axis of length 1, or ends before the other does, it
/// is the same along all of that axis: N x C x H x W by N x C x 1 x 1 (or N x C), by 1 x C x 1 x 1,
/// by N x 1 x H x W. Throws where lengths differ otherwise, and where neither has all axes.
class MulLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    small_ = bottoms[0]->count() < bottoms[1]->count() ? 0 : 1;
    const Blob& large = *bottoms[1 - small_];
    const Blob& small = *bottoms[small_];
    const std::string shapes = Text("bottoms \"", large.name(), "\" (", large.shape(), ") and \"",
                                    small.name(), "\" (", small.shape(), ")");
    // Neighbouring axes that both have, and those that the factor lacks, are runs.
    std::vector<std::pair<bool, int64_t>> runs;
    for (int axis = 0; axis < large.shape().axes(); ++axis) {
      const int64_t length = large.shape()[axis];
      const int64_t own = axis < small.shape().axes() ? small.shape()[axis] : 1;
      Require(own == length || own == 1, shapes, " do not fit along axis ", axis,
              ": lengths must be equal, or 1");
      if (length == 1) continue;
      const bool both = own == length;
      if (runs.empty() || runs.back().first != both) runs.emplace_back(both, 1);
      runs.back().second *= length;
    }
    Require(small.shape().axes() <= large.shape().axes() ||
                small.shape().Count(large.shape().axes()) == 1,
            shapes, ": the second has axes that the first lacks");
    Require(runs.size() <= 3, shapes, " take turns in which has an axis: not supported");
    SetRuns(runs);
    tops[0]->Resize(large.shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    Multiply(context, bottoms[1 - small_]->data(), bottoms[small_]->data(), &tops[0]->data());
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    Blob* large = bottoms[1 - small_];
    Blob* small = bottoms[small_];
    if (propagate[1 - small_]) {
      Multiply(context, tops[0]->diff(), small->data(), &large->diff());
    }
    if (!propagate[small_]) return;
    const float* dy = tops[0]->diff().Read(context);
    const float* x = large->data().Read(context);
    float* gradient = small->diff().Write(context);
    const AxisView& view = at_.view;
    if (at_.axis == 0) {
      ForEach2D(context, view.outer, view.inner, SumOverAxis{view, x, dy, gradient}, view.axis);
    } else {
      SumChannels(context, view, LoadProduct{x, dy}, StoreScaled{gradient, 1, 0});
    }
  }

 private:
  /// `runs` as outer, axis and inner: the factor has the middle one alone, or the two around it.
  void SetRuns(std::vector<std::pair<bool, int64_t>> runs) {
    if (runs.size() < 3 && (runs.empty() || runs[0].first)) runs.emplace(runs.begin(), false, 1);
    while (runs.size() < 3) runs.emplace_back(!runs.back().first, 1);
    at_.view = {runs[0].second, runs[1].second, runs[2].second};
    const bool middle = runs[1].first;
    at_.outer = middle ? 0 : at_.view.inner;
    at_.axis = middle ? 1 : 0;
    at_.inner = middle ? 0 : 1;
  }

  void Multiply(Context& context, const Tensor& large, const Tensor& small, Tensor* out) {
    const float* x = large.Read(context);
    const float* factor = small.Read(context);
    ForEach2D(context, at_.view.outer * at_.view.axis, at_.view.inner,
              MultiplyRows{at_, x, factor, out->Write(context)});
  }

  int small_ = 1;
  FactorAt at_ = {};
};

const RegisterLayer<MulLayer> kRegistrations[] = {
    RegisterLayer<MulLayer>(LayerInfo("Mul")
                                .Summary("the product of two blobs, one may lack axes")
                                .Bottoms(2, "any shapes that agree where neither has 1")
                                .Tops(1, "the larger shape")),
    RegisterLayer<MulLayer>(LayerInfo("BroadcastMul")
                                .Summary("the product of two blobs, one may lack axes")
                                .Bottoms(2, "any shapes that agree where neither has 1")
                                .Tops(1, "the larger shape"))};

}  // namespace
}  // namespace moka
