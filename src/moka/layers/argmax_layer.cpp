#include <algorithm>
#include <cfloat>

#include "moka/device/for_each.hpp"
#include "moka/layers/axis_view.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Finds the k-th largest by looking for the largest behind the one before: k is small.
struct LargestOf {
  AxisView view;
  int64_t top_k;
  const float* x;
  float* places;  // null if not wanted, as values
  float* values;
  int64_t outer_stride;  // of places and values
  MOKA_HD void operator()(int64_t outer, int64_t inner) const {
    const float* first = x + outer * view.axis * view.inner + inner;
    float last = FLT_MAX;
    int64_t last_place = view.axis;
    for (int64_t k = 0; k < top_k; ++k) {
      float best = -FLT_MAX;
      int64_t place = -1;
      for (int64_t a = 0; a < view.axis; ++a) {
        const float value = first[a * view.inner];
        // Of equal values, the one with the larger index comes first.
        const bool behind = k == 0 || value < last || (value == last && a < last_place);
        if (!behind || (place >= 0 && value < best)) continue;
        best = value;
        place = a;
      }
      last = best;
      last_place = place;
      const int64_t out = outer * outer_stride + k * view.inner + inner;
      if (places != nullptr) places[out] = static_cast<float>(place);
      if (values != nullptr) values[out] = best;
    }
  }
};

/// The places of the top_k largest values, in falling order; of equal values the later one comes
/// first. With `axis`: along it, the top has top_k there, and with out_max_val the values instead
/// of the places. Without: over everything behind axis 0, the top is N x 1 x top_k x 1... with at
/// least 3 axes, and with out_max_val N x 2 x top_k x 1...: places, then values. No derivative.
/// Follows Caffe's ArgMax. Throws for a top_k that is larger than what there is.
class ArgMaxLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const ArgMaxParameter& argmax = param().argmax_param();
    const Shape& in = bottoms[0]->shape();
    const int64_t top_k = argmax.top_k();
    Require(in.axes() > 0, "needs a bottom with at least one axis");
    if (argmax.has_axis()) {
      view_ = AxisView::Of(in, argmax.axis());
    } else {
      view_ = {in[0], in.Count(1), 1};
    }
    Require(top_k >= 1 && top_k <= view_.axis, "has top_k ", top_k, ", but there are ", view_.axis,
            " values to choose from in ", in);
    if (argmax.has_axis()) {
      tops[0]->Resize(in.With(argmax.axis(), top_k));
    } else {
      std::vector<int64_t> dims(std::max(in.axes(), 3), 1);
      dims[0] = in[0];
      dims[1] = argmax.out_max_val() ? 2 : 1;
      dims[2] = top_k;
      tops[0]->Resize(Shape(dims));
    }
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const ArgMaxParameter& argmax = param().argmax_param();
    const int64_t top_k = argmax.top_k();
    const float* x = bottoms[0]->data().Read(context);
    float* y = tops[0]->data().Write(context);
    const bool both = argmax.out_max_val() && !argmax.has_axis();
    float* places = argmax.out_max_val() && argmax.has_axis() ? nullptr : y;
    float* values = both ? y + top_k : (places == nullptr ? y : nullptr);
    const int64_t stride = top_k * view_.inner * (both ? 2 : 1);
    ForEach2D(context, view_.outer, view_.inner, LargestOf{view_, top_k, x, places, values, stride},
              top_k * view_.axis);
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return bottoms[0]->count() * param().argmax_param().top_k();
  }

 private:
  AxisView view_;
};

const RegisterLayer<ArgMaxLayer> kRegistration(
    LayerInfo("ArgMax")
        .Summary("the places of the largest values")
        .Field("argmax_param")
        .Bottoms(1, "N x ...")
        .Tops(1, "N x 1 x top_k, or the bottom's shape with top_k at `axis`"));

}  // namespace
}  // namespace moka
