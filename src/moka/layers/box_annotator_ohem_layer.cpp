#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "moka/base/error.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Online hard example mining: of each sample's regions, the roi_per_img most costly ones keep
/// their labels and box weights; the others get ignore_label and weights 0. Of equal losses the
/// first wins; a loss that is not a number counts as the largest.
///
/// Bottoms: regions R x 5 with the sample first, losses, labels (R values each), box weights (R x
/// ...). Tops: labels and box weights. No derivative. Shrivastava et al. (2016), as R-FCN has it.
/// Throws for bottoms of other sizes and roi_per_img 0.
class BoxAnnotatorOHEMLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    Require(param().box_annotator_ohem_param().roi_per_img() > 0,
            "box_annotator_ohem_param.roi_per_img, the number of regions to keep, is 0");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& regions = bottoms[0]->shape();
    Require(regions.axes() > 1 && regions.Count(1) == 5,
            "needs regions, R x 5 with (sample, x1, y1, x2, y2), but bottom \"", bottoms[0]->name(),
            "\" has shape ", regions);
    for (int i : {1, 2, 3}) {
      const Shape& shape = bottoms[i]->shape();
      Require(shape.LegacyDim(0) == regions[0] && (i == 3 || shape.Count() == regions[0]),
              "bottom \"", bottoms[i]->name(), "\" (", shape, ") does not fit to the ", regions[0],
              " regions of bottom \"", bottoms[0]->name(), "\"");
    }
    tops[0]->Resize(bottoms[2]->shape());
    tops[1]->Resize(bottoms[3]->shape());
  }

  void Forward(Context&, const BlobVector& bottoms, const BlobVector& tops) override {
    const std::vector<bool> kept = Costly(*bottoms[0], *bottoms[1]);
    const auto ignored = static_cast<float>(param().box_annotator_ohem_param().ignore_label());
    KeepRows(kept, ignored, *bottoms[2], tops[0]);
    KeepRows(kept, 0, *bottoms[3], tops[1]);
  }

 private:
  /// Few numbers, to be sorted: the host's work.
  std::vector<bool> Costly(const Blob& regions, const Blob& losses) const {
    const float *region = regions.data().Read(), *loss = losses.data().Read();
    std::vector<int64_t> order(losses.count());
    std::iota(order.begin(), order.end(), 0);
    const auto cost = [&](int64_t r) { return std::isnan(loss[r]) ? HUGE_VALF : loss[r]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return cost(a) > cost(b); });
    const uint32_t most = param().box_annotator_ohem_param().roi_per_img();
    std::map<float, uint32_t> kept_of_sample;
    std::vector<bool> kept(order.size());
    for (int64_t r : order) kept[r] = kept_of_sample[region[5 * r]]++ < most;
    return kept;
  }

  static void KeepRows(const std::vector<bool>& kept, float otherwise, const Blob& bottom,
                       Blob* top) {
    const float* from = bottom.data().Read();
    float* to = top->data().Write();
    const int64_t length = kept.empty() ? 0 : bottom.count() / static_cast<int64_t>(kept.size());
    for (bool keep : kept) {
      for (int64_t i = 0; i < length; ++i) to[i] = keep ? from[i] : otherwise;
      from += length, to += length;
    }
  }
};

const RegisterLayer<BoxAnnotatorOHEMLayer> kRegistration(
    LayerInfo("BoxAnnotatorOHEM")
        .Summary("keeps the labels of the most costly regions (online hard example mining)")
        .Field("box_annotator_ohem_param")
        .Bottoms(4, "regions, R x 5, losses, labels, R each, and box weights, R x ...")
        .Tops(2, "labels and box weights"));

}  // namespace
}  // namespace moka
