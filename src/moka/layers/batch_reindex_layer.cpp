#include <cmath>

#include "moka/layers/item_rows.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// For each item, the sum of the rows that were taken from it: begin[i] to begin[i + 1] in
/// `takers`.
struct SumTakers {
  const int32_t* begin;
  const int32_t* takers;
  int64_t length;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t item, int64_t column) const {
    float sum = 0;
    for (int32_t t = begin[item]; t < begin[item + 1]; ++t) sum += dy[takers[t] * length + column];
    dx[item * length + column] = sum;
  }
};

/// Item m of the top is item bottom1[m] of bottom 0; items may repeat or be left out. No gradient
/// for bottom 1. Follows Caffe's BatchReindex. Throws for numbers of items that are not there.
class BatchReindexLayer : public Layer {
 public:
  using Layer::Layer;

  bool Differentiable(int bottom) const override { return bottom == 0; }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    const Shape& indices = bottoms[1]->shape();
    Require(in.axes() > 0, "needs a bottom of items, N x ...");
    Require(indices.axes() == 1, "takes a list of item numbers, but bottom \"", bottoms[1]->name(),
            "\" has shape ", indices);
    tops[0]->Resize(in.With(0, indices[0]));
    item_of_.Resize(indices);
    length_ = in.Count(1);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* indices = bottoms[1]->data().Read();
    const int64_t items = bottoms[0]->shape()[0], count = bottoms[1]->count();
    auto* item_of = reinterpret_cast<int32_t*>(item_of_.Write());
    for (int64_t m = 0; m < count; ++m) {
      Require(indices[m] >= 0 && indices[m] < static_cast<float>(items), "number ", m, " in \"",
              bottoms[1]->name(), "\" is ", indices[m], ", but \"", bottoms[0]->name(), "\" has ",
              items, " items, 0 to ", items - 1);
      item_of[m] = static_cast<int32_t>(indices[m]);
    }
    const float* x = bottoms[0]->data().Read(context);
    const auto* rows = reinterpret_cast<const int32_t*>(item_of_.Read(context));
    ForEach2D(context, count, length_, PickRows{rows, length_, x, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    ListTakers(bottoms[0]->shape()[0]);
    const float* dy = tops[0]->diff().Read(context);
    const auto* begin = reinterpret_cast<const int32_t*>(begin_.Read(context));
    const auto* takers = reinterpret_cast<const int32_t*>(takers_.Read(context));
    ForEach2D(context, bottoms[0]->shape()[0], length_,
              SumTakers{begin, takers, length_, dy, bottoms[0]->diff().Write(context)});
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  void ListTakers(int64_t items) {
    const auto* item_of = reinterpret_cast<const int32_t*>(item_of_.Read());
    const int64_t count = item_of_.count();
    begin_.Resize({items + 1});
    takers_.Resize({count});
    auto* begin = reinterpret_cast<int32_t*>(begin_.Write());
    auto* takers = reinterpret_cast<int32_t*>(takers_.Write());
    int32_t listed = 0;
    std::vector<std::vector<int32_t>> of_item(items);
    for (int64_t m = 0; m < count; ++m) of_item[item_of[m]].push_back(static_cast<int32_t>(m));
    for (int64_t item = 0; item < items; ++item) {
      begin[item] = listed;
      for (int32_t m : of_item[item]) takers[listed++] = m;
    }
    begin[items] = listed;
  }

  int64_t length_ = 1;
  // 32-bit whole numbers in the memory of floats.
  Tensor item_of_;
  Tensor begin_, takers_;
};

const RegisterLayer<BatchReindexLayer> kRegistration(
    LayerInfo("BatchReindex")
        .Summary("items in the order of a list of their numbers")
        .Bottoms(2, "items, N x ...; M numbers of items")
        .Tops(1, "M x ..."));

}  // namespace
}  // namespace moka
