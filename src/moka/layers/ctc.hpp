#pragma once

#include <cstdint>

#include "moka/device/context.hpp"
#include "moka/tensor/tensor.hpp"

namespace moka {

/// Where in T x N x C scores the sequences lie, and what each should read. For sequence n with
/// label y_1 ... y_L, `paths` (N x P, P at least 2L + 1) has blank y_1 blank ... y_L blank.
struct CtcTargets {
  int64_t steps = 0;
  int64_t sequences = 0;
  int64_t classes = 0;
  int64_t path_size = 0;
  const float* paths = nullptr;
  const float* path_lengths = nullptr;  // N: 2L + 1, or 0 for a sequence that does not count
  const float* lengths = nullptr;       // N: steps that count
};

/// Connectionist temporal classification (Graves et al., ICML 2006): the probability of a label
/// sequence is that of all paths of one class a step that give it when repeats and then blanks are
/// taken out. Computed in logarithms by the forward and backward sums over positions in `paths`.

/// log_p = log softmax(scores) along the classes; alpha (T x N x P): the logarithm of the
/// probability of being at a position after step t; losses (N): -log p(label).
void CtcForward(Context& context, const CtcTargets& targets, const float* scores, float* log_p,
                float* alpha, float* losses);

/// The gradient of `*weight * *inverse` times the sum of losses with respect to the scores. `beta`
/// is memory of alpha's size.
void CtcBackward(Context& context, const CtcTargets& targets, const float* log_p,
                 const float* alpha, const float* losses, const float* weight, const float* inverse,
                 float* beta, float* gradient);

}  // namespace moka
