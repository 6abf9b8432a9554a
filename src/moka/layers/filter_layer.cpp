#include "moka/layers/item_rows.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// The items of each bottom but the last for which the last, the selector (N or N x 1 x ...), is
/// not 0. The tops have as many items as are kept in that pass. No gradient for the selector.
/// Follows Caffe's Filter. Throws for bottoms that differ in the number of items.
class FilterLayer : public Layer {
 public:
  using Layer::Layer;

  bool Differentiable(int bottom) const override { return bottom < param().bottom_size() - 1; }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    Require(tops.size() + 1 == bottoms.size(), "gives one top for each bottom but the last, ",
            bottoms.size() - 1, ", but has ", tops.size());
    const Shape& selector = bottoms.back()->shape();
    Require(selector.axes() > 0 && selector.Count() == selector[0], "the selector \"",
            bottoms.back()->name(), "\" has shape ", selector,
            ": it needs one value for each item");
    for (size_t i = 0; i < tops.size(); ++i) {
      const Shape& shape = bottoms[i]->shape();
      Require(shape.axes() > 0 && shape[0] == selector[0], "bottom \"", bottoms[i]->name(), "\" (",
              shape, ") and the selector (", selector, ") need the same number of items");
      tops[i]->Resize(shape);
    }
    place_of_.Resize({selector[0]});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const int64_t kept = Choose(*bottoms.back());
    for (size_t i = 0; i < tops.size(); ++i) {
      const Shape& shape = bottoms[i]->shape();
      tops[i]->Resize(shape.With(0, kept));
      const float* x = bottoms[i]->data().Read(context);
      const auto* rows = reinterpret_cast<const int32_t*>(item_of_.Read(context));
      ForEach2D(context, kept, shape.Count(1),
                PickRows{rows, shape.Count(1), x, tops[i]->data().Write(context)});
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    for (size_t i = 0; i < tops.size(); ++i) {
      if (!propagate[i]) continue;
      if (tops[i]->count() == 0) {
        bottoms[i]->diff().SetZero();
        continue;
      }
      const Shape& shape = bottoms[i]->shape();
      const float* dy = tops[i]->diff().Read(context);
      const auto* rows = reinterpret_cast<const int32_t*>(place_of_.Read(context));
      ForEach2D(context, shape[0], shape.Count(1),
                PickRows{rows, shape.Count(1), dy, bottoms[i]->diff().Write(context)});
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  /// How many items are kept decides shapes, so it is found out on the host.
  int64_t Choose(const Blob& selector) {
    const float* selected = selector.data().Read();
    auto* place_of = reinterpret_cast<int32_t*>(place_of_.Write());
    std::vector<int32_t> items;
    for (int64_t i = 0; i < selector.count(); ++i) {
      place_of[i] = selected[i] != 0 ? static_cast<int32_t>(items.size()) : -1;
      if (selected[i] != 0) items.push_back(static_cast<int32_t>(i));
    }
    const auto kept = static_cast<int64_t>(items.size());
    item_of_.Resize({kept});
    std::copy(items.begin(), items.end(), reinterpret_cast<int32_t*>(item_of_.Write()));
    return kept;
  }

  // 32-bit whole numbers in the memory of floats.
  Tensor item_of_;   // for each item kept: which it was
  Tensor place_of_;  // for each item: where it went, -1 if it was not kept
};

const RegisterLayer<FilterLayer> kRegistration(
    LayerInfo("Filter")
        .Summary("the items that a selector chooses")
        .Bottoms(2, Arity::kAny, "blobs N x ..., then the selector of N values")
        .Tops(1, Arity::kAny, "the chosen items, one top for each bottom but the last"));

}  // namespace
}  // namespace moka
