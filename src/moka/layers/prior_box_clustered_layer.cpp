#include "moka/base/error.hpp"
#include "moka/layers/prior_layer.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// Boxes by widths and heights, one for each pair width[i], height[i] in turn, see PriorLayer.
/// Throws Error for lists that are empty or differ in length, and for lengths that are not
/// positive. The layer of the same name in OpenVINO's training toolbox, where the lists are centres
/// of clusters of the true boxes.
class PriorBoxClusteredLayer : public PriorLayer {
 public:
  using PriorLayer::PriorLayer;

 private:
  std::vector<BoxSize> BoxSizes() const override {
    const int count = prior().width_size();
    if (count == 0 || count != prior().height_size()) {
      FailAt(param(), "prior_box_param", "has ", count, " widths and ", prior().height_size(),
             " heights, but needs as many of both, and at least one");
    }
    std::vector<BoxSize> sizes;
    for (int i = 0; i < count; ++i) {
      if (!(prior().width(i) > 0 && prior().height(i) > 0)) {
        FailAt(param(), Text("prior_box_param.width[", i, "]"), "box ", i, " is ",
               prior().height(i), " x ", prior().width(i), ", and must not be empty");
      }
      sizes.push_back({prior().width(i), prior().height(i)});
    }
    return sizes;
  }
};

const RegisterLayer<PriorBoxClusteredLayer> kRegistration(
    LayerInfo("PriorBoxClustered")
        .Summary("boxes of given widths and heights around each place of a feature map")
        .Field("prior_box_param")
        .Bottoms(2, "the feature map and the picture, N x C x H x W")
        .Tops(1, "1 x 2 x 4P: boxes, then their variances"));

}  // namespace
}  // namespace moka
