#include "moka/layers/pair_loss.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct Magnitude {
  MOKA_HD float Value(float d) const { return fabsf(d); }
  MOKA_HD float Slope(float d) const { return d > 0 ? 1.0f : d < 0 ? -1.0f : 0.0f; }
};

/// loss = sum_i |a_i - b_i| / N, N the length of the first axis. Two bottoms with as many values;
/// both have a derivative, 0 where they are equal. Follows L1Loss of NVIDIA's Caffe (DetectNet).
using L1LossLayer = PairLossLayer<Magnitude>;

const RegisterLayer<L1LossLayer> kRegistration(
    LayerInfo("L1Loss")
        .Summary("the mean absolute distance of items")
        .Field("loss_param")
        .Bottoms(2, "predictions and targets, as many values in each")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
