#include "moka/solver/layer_rate.hpp"

#include <algorithm>
#include <cmath>

#include "moka/device/math.hpp"
#include "moka/solver/solver_fields.hpp"

namespace moka {
namespace {

double Norm(Context& context, const Tensor& tensor) {
  const float* values = tensor.Read(context);
  return std::sqrt(Dot(context, tensor.count(), values, values));
}

float Eta(const SolverParameter& param) {
  return param.has_local_gw_ratio() ? param.local_gw_ratio() : param.larc_eta();
}

}  // namespace

bool HasLayerRates(const SolverParameter& param) {
  return param.type() == "LARS" || param.larc() || param.local_lr_auto();
}

void CheckLayerRates(const SolverParameter& param) {
  RequireField(param.larc_policy() == "scale" || param.larc_policy() == "clip", param,
               "larc_policy", "unknown larc_policy \"", param.larc_policy(),
               "\": it is scale or clip");
  GivenName(param, "larc_eta", "local_gw_ratio");
  RequireField(Eta(param) > 0, param, GivenName(param, "larc_eta", "local_gw_ratio"),
               "the ratio of layer-wise rates is ", Eta(param), ", but must be above 0");
  const bool plain = param.type() == "SGD" || param.type() == "Nesterov" || param.type() == "LARS";
  RequireField(!HasLayerRates(param) || plain, param, param.larc() ? "larc" : "local_lr_auto",
               "layer-wise rates are for SGD, Nesterov and LARS: ", param.type(),
               " scales gradients itself");
}

float LayerRate(const SolverParameter& param, Context& context, const UpdateStep& step, float rate,
                const Blob& blob) {
  const double weights = Norm(context, blob.data());
  const double gradient = Norm(context, blob.diff()) * step.scale;
  if (weights == 0 || gradient == 0) return rate;
  const auto local = static_cast<float>(Eta(param) * weights / (gradient + step.decay * weights));
  return param.larc_policy() == "clip" ? std::min(rate, local) : rate * local;
}

}  // namespace moka
