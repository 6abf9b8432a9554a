#pragma once

#include "moka/device/context.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/solver/update_rule.hpp"
#include "moka/tensor/blob.hpp"

namespace moka {

/// Whether each blob has a learning rate of its own: type "LARS", larc or local_lr_auto.
bool HasLayerRates(const SolverParameter& param);

/// Throws Error for a policy of these rates that is unknown, and with rules that scale gradients
/// themselves.
void CheckLayerRates(const SolverParameter& param);

/// The rate of a blob with weights w and (scaled) gradient g where the solver's is `rate`:
///
///   local = eta * |w| / (|g| + decay * |w|)
///   rate * local (policy "scale"), or the lower of rate and local ("clip")
///
/// and `rate` itself where |w| or |g| is 0 (a bias that begins with 0, a layer without gradient).
/// You, Gitman and Ginsburg, "Large batch training of convolutional networks", arXiv 1708.03888.
float LayerRate(const SolverParameter& param, Context& context, const UpdateStep& step, float rate,
                const Blob& blob);

}  // namespace moka
