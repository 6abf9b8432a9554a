#include <algorithm>
#include <cmath>

#include "moka/base/error.hpp"
#include "moka/layers/prior_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// Adds a ratio unless it is there already.
void AddRatio(float ratio, std::vector<float>* ratios) {
  const auto equal = [&](float known) { return std::fabs(known - ratio) < 1e-6f; };
  if (std::none_of(ratios->begin(), ratios->end(), equal)) ratios->push_back(ratio);
}

/// Boxes by sizes and ratios, see PriorLayer. For each min_size s, in this order: a square with
/// side s; one with side sqrt(s * max_size) where there are max_sizes; then for each aspect_ratio r
/// other than 1 a box of width s * sqrt(r) and height s / sqrt(r), and with `flip` its turned twin.
/// Sizes are cut to whole pixels, which SSD does as well. Throws Error for sizes and ratios that
/// are not positive, and max_sizes that are not larger than their min_sizes or not as many. Liu et
/// al., SSD (ECCV 2016), and the layer of the same name in its Caffe.
class PriorBoxLayer : public PriorLayer {
 public:
  using PriorLayer::PriorLayer;

 private:
  std::vector<BoxSize> BoxSizes() const override {
    CheckSizes();
    std::vector<BoxSize> sizes;
    const std::vector<float> ratios = Ratios();
    for (int i = 0; i < prior().min_size_size(); ++i) {
      const float side = std::trunc(prior().min_size(i));
      sizes.push_back({side, side});
      if (prior().max_size_size() > 0) {
        const float larger = std::sqrt(side * std::trunc(prior().max_size(i)));
        sizes.push_back({larger, larger});
      }
      for (float ratio : ratios) {
        if (std::fabs(ratio - 1) < 1e-6f) continue;
        sizes.push_back({side * std::sqrt(ratio), side / std::sqrt(ratio)});
      }
    }
    return sizes;
  }

  void CheckSizes() const {
    const int count = prior().min_size_size(), more = prior().max_size_size();
    if (count == 0) FailAt(param(), "prior_box_param", "needs at least one min_size");
    if (more != 0 && more != count) {
      FailAt(param(), "prior_box_param.max_size", "there are ", count, " min_sizes, but ", more,
             " max_sizes: give one for each or none");
    }
    for (int i = 0; i < count; ++i) {
      const float side = prior().min_size(i);
      if (!(side > 0)) {
        FailAt(param(), Text("prior_box_param.min_size[", i, "]"), "min_size is ", side,
               ", and must be positive");
      }
      if (i < more && !(prior().max_size(i) > side)) {
        FailAt(param(), Text("prior_box_param.max_size[", i, "]"), "max_size is ",
               prior().max_size(i), ", and must be larger than min_size, ", side);
      }
    }
  }

  std::vector<float> Ratios() const {
    std::vector<float> ratios = {1};
    for (int i = 0; i < prior().aspect_ratio_size(); ++i) {
      const float ratio = prior().aspect_ratio(i);
      if (!(ratio > 0)) {
        FailAt(param(), Text("prior_box_param.aspect_ratio[", i, "]"), "aspect_ratio is ", ratio,
               ", and must be positive");
      }
      const size_t before = ratios.size();
      AddRatio(ratio, &ratios);
      if (prior().flip() && ratios.size() > before) ratios.push_back(1 / ratio);
    }
    return ratios;
  }
};

const RegisterLayer<PriorBoxLayer> kRegistration(
    LayerInfo("PriorBox")
        .Summary("boxes of given sizes and shapes around each place of a feature map")
        .Field("prior_box_param")
        .Bottoms(2, "the feature map and the picture, N x C x H x W")
        .Tops(1, "1 x 2 x 4P: boxes, then their variances"));

}  // namespace
}  // namespace moka
