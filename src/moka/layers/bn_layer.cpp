#include "moka/layers/channel_norm.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// y = scale (x - mean) / sqrt(variance + eps) + shift, by channel, in the form of one of two
/// forks; bn_param says which. All params are 1 x C x 1 x 1.
///
/// SegNet's (Badrinarayanan et al., 2017): params scale and shift. bn_mode LEARN takes mean and
/// biased variance from the batch, in testing too, with eps 1e-9; INFERENCE takes none, y = scale x
/// + shift, for weights that have statistics worked in.
///
/// PSPNet's (Zhao et al., CVPR 2017), where the fields or more than two param entries say so:
/// params scale, shift, mean and variance. Training uses the batch, and the last two follow it:
/// stored = momentum stored + (1 - momentum) batch's, with the unbiased variance. Testing, and
/// `frozen` training, in which nothing is learned, use the last two.
class BNLayer : public ChannelNormLayer {
 public:
  using ChannelNormLayer::ChannelNormLayer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const int64_t channels = ChannelsOf(bottoms[0]->shape());
    SetUpNorm(StoresStatistics() ? PspNet({1, channels, 1, 1}) : SegNet({1, channels, 1, 1}),
              channels);
  }

 private:
  const BNParameter& bn() const { return param().bn_param(); }

  bool StoresStatistics() const {
    return bn().has_slope_filler() || bn().has_bias_filler() || bn().has_momentum() ||
           bn().has_eps() || bn().has_frozen() || param().param_size() > 2;
  }

  Norm SegNet(const Shape& shape) {
    Norm norm =
        AddScaleAndShift(shape, bn().has_scale_filler(), bn().scale_filler(), bn().shift_filler());
    norm.eps = 1e-9f;
    if (bn().bn_mode() == BNParameter::INFERENCE) norm.statistics = Statistics::kNone;
    return norm;
  }

  Norm PspNet(const Shape& shape) {
    Norm norm =
        AddScaleAndShift(shape, bn().has_slope_filler(), bn().slope_filler(), bn().bias_filler());
    norm.mean = 2;
    norm.variance = 3;
    norm.keep = bn().momentum();
    norm.add = 1 - bn().momentum();
    norm.eps = bn().eps();
    AddStatistic(shape);
    AddStatistic(shape);
    params()[norm.variance].filler.set_value(1);
    if (bn().frozen() || phase() == TEST) norm.statistics = Statistics::kStored;
    for (LayerParam& learned : params()) learned.learned = learned.learned && !bn().frozen();
    return norm;
  }

  Norm AddScaleAndShift(const Shape& shape, bool has_filler, FillerParameter filler,
                        const FillerParameter& shift_filler) {
    if (!has_filler) filler.set_value(1);
    AddParam(shape, filler);
    AddParam(shape, shift_filler);
    Norm norm;
    norm.scale = 0;
    norm.shift = 1;
    return norm;
  }
};

const RegisterLayer<BNLayer> kRegistration(
    LayerInfo("BN")
        .Summary("mean 0 and variance 1 by channel, then a learned scale and shift")
        .Field("bn_param")
        .Bottoms(1, "N x C x ...")
        .Tops(1, "the same shape")
        .InPlace());

}  // namespace
}  // namespace moka
