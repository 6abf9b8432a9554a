#include "moka/base/error.hpp"
#include "moka/layers/channel_norm.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// y = (x - mean) / sqrt(variance + eps), by channel.
///
/// In training (use_global_stats: false) mean and biased variance are the batch's, and three params
/// follow them as moving sums with f = moving_average_fraction: mean = f mean + batch mean,
/// variance = f variance + m / (m - 1) batch variance (m values a channel; factor 1 for m = 1), and
/// their weight = f weight + 1. In testing the first two divided by the third are used. Solvers
/// leave the three alone. With scale_bias (NVIDIA's fork) two more params are learned: y becomes
/// scale y + bias.
///
/// Bottom N x C x ..., any number of axes; with one axis all values are one channel. Throws Error
/// for a param entry that would have statistics learned. Ioffe and Szegedy (ICML 2015); follows
/// Caffe's BatchNorm, which leaves factor and bias to a Scale layer behind it.
class BatchNormLayer : public ChannelNormLayer {
 public:
  using ChannelNormLayer::ChannelNormLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const BatchNormParameter& batch_norm = param().batch_norm_param();
    for (int i = 0; i < param().param_size() && i < 3; ++i) {
      Require(param().param(i).lr_mult() == 0, "mean, variance and their weight are not learned: ",
              "set lr_mult: 0 in its first param entries, or leave them out");
    }
    const int64_t channels = ChannelsOf(bottoms[0]->shape());
    AddStatistic({channels});
    AddStatistic({channels});
    AddStatistic({1});
    Norm norm;
    norm.mean = 0;
    norm.variance = 1;
    norm.weight = 2;
    norm.keep = batch_norm.moving_average_fraction();
    norm.eps = batch_norm.eps();
    norm.eps_under_root = batch_norm.add_eps_before_sqrt();
    const bool stored =
        batch_norm.has_use_global_stats() ? batch_norm.use_global_stats() : phase() == TEST;
    if (stored) norm.statistics = Statistics::kStored;
    if (batch_norm.scale_bias()) {
      FillerParameter filler = batch_norm.scale_filler();
      if (!batch_norm.has_scale_filler()) filler.set_value(1);
      AddParam({channels}, filler);
      AddParam({channels}, batch_norm.bias_filler());
      norm.scale = 3;
      norm.shift = 4;
    }
    SetUpNorm(norm, channels);
  }
};

const RegisterLayer<BatchNormLayer> kRegistration(LayerInfo("BatchNorm")
                                                      .Summary("mean 0 and variance 1 by channel")
                                                      .Field("batch_norm_param")
                                                      .Bottoms(1, "N x C x ...")
                                                      .Tops(1, "the same shape")
                                                      .InPlace());

}  // namespace
}  // namespace moka
