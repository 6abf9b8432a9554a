#include "moka/layers/pair_loss.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct HalfSquare {
  MOKA_HD float Value(float d) const { return 0.5f * d * d; }
  MOKA_HD float Slope(float d) const { return d; }
};

/// loss = sum_i (a_i - b_i)^2 / (2 N), N the length of the first axis. Two bottoms with as many
/// values; both have a derivative. Follows Caffe's EuclideanLoss.
using EuclideanLossLayer = PairLossLayer<HalfSquare>;

const RegisterLayer<EuclideanLossLayer> kRegistration(
    LayerInfo("EuclideanLoss")
        .Summary("half the mean squared distance of items")
        .Field("loss_param")
        .Bottoms(2, "predictions and targets, as many values in each")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
