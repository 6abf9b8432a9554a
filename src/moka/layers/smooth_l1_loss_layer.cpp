#include "moka/layers/pair_loss.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/smooth_l1.hpp"

namespace moka {
namespace {

/// loss = sum_i outside_i * f(inside_i * (a_i - b_i)) / N, N the length of the first axis, with
/// f(d) = (sigma d)^2 / 2 where |d| < 1 / sigma^2, else |d| - 1 / (2 sigma^2).
///
/// Bottoms: predictions, targets and, if given, inside and outside weights, as many values in each.
/// Predictions and targets have a derivative. Throws Error for a sigma that is not positive.
/// Girshick, Fast R-CNN (ICCV 2015); with three bottoms it is SSD's layer of the same name.
class SmoothL1LossLayer : public PairLossLayer<SmoothMagnitude> {
 public:
  using PairLossLayer::PairLossLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const float sigma = param().smooth_l1_loss_param().sigma();
    Require(sigma > 0, "smooth_l1_loss_param.sigma is ", sigma, ", but must be positive");
    function_.sigma_squared = sigma * sigma;
  }
};

const RegisterLayer<SmoothL1LossLayer> kRegistration(
    LayerInfo("SmoothL1Loss")
        .Summary("squared near 0 and absolute far from it, for bounding boxes")
        .Field("smooth_l1_loss_param")
        .Bottoms(2, 4, "predictions, targets, inside weights, outside weights")
        .Tops(1, "the loss")
        .MakesMissingTops());

}  // namespace
}  // namespace moka
