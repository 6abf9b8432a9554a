#include "moka/layers/rearrange_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Mixes the channels of `group` groups: the top has the first channel of each group, then the
/// second of each, and so on: channel j * group + i is channel i * C / group + j of the bottom.
/// N x C x ..., at least two axes (Zhang et al., "ShuffleNet", CVPR 2018). Throws where group does
/// not divide C.
class ShuffleChannelLayer : public RearrangeLayer {
 public:
  using RearrangeLayer::RearrangeLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    const int64_t group = param().shuffle_channel_param().group();
    Require(group > 0, "has group 0");
    Require(in[1] % group == 0, "has group ", group, ", which does not divide the ", in[1],
            " channels of ", in);
    Rearrange({in[0], group, in[1] / group, in.Count(2)}, {0, 2, 1, 3}, tops[0]);
    tops[0]->Resize(in);
  }
};

const RegisterLayer<ShuffleChannelLayer> kRegistration(
    LayerInfo("ShuffleChannel")
        .Summary("mixes the channels of groups")
        .Field("shuffle_channel_param")
        .Bottoms(1, "N x C x ...")
        .Tops(1, "the same shape, channels in another order"));

}  // namespace
}  // namespace moka
