#include "moka/layers/ctc.hpp"

#include <cmath>

#include "moka/device/for_each.hpp"

namespace moka {
namespace {

constexpr int64_t kStepWork = 40;

MOKA_HD float LogAdd(float a, float b) {
  const float most = fmaxf(a, b);
  return most == -INFINITY ? most : most + log1pf(expf(fminf(a, b) - most));
}

struct LogSoftmax {
  CtcTargets at;
  const float* scores;
  float* log_p;
  MOKA_HD void operator()(int64_t t, int64_t n) const {
    const int64_t begin = (t * at.sequences + n) * at.classes;
    float most = scores[begin];
    for (int64_t c = 1; c < at.classes; ++c) most = fmaxf(most, scores[begin + c]);
    float sum = 0;
    for (int64_t c = 0; c < at.classes; ++c) sum += expf(scores[begin + c] - most);
    const float log_sum = most + logf(sum);
    for (int64_t c = 0; c < at.classes; ++c) log_p[begin + c] = scores[begin + c] - log_sum;
  }
};

/// What forward and backward sums see of a sequence.
struct Path {
  const float* labels;
  int64_t size;
  /// Whether the blank at position s - 1 may be left out on the way to s.
  MOKA_HD bool Skips(int64_t s) const {
    return s >= 2 && s < size && s % 2 == 1 && labels[s] != labels[s - 2];
  }
  MOKA_HD int64_t Class(int64_t s) const { return static_cast<int64_t>(labels[s]); }
};

MOKA_HD Path PathOf(const CtcTargets& at, int64_t n) {
  return {at.paths + n * at.path_size, static_cast<int64_t>(at.path_lengths[n])};
}

struct AlphaStep {
  CtcTargets at;
  int64_t step;
  const float* log_p;
  float* alpha;
  MOKA_HD void operator()(int64_t n, int64_t s) const {
    const Path path = PathOf(at, n);
    float* now = alpha + (step * at.sequences + n) * at.path_size + s;
    if (s >= path.size) return;
    const float emitted = log_p[(step * at.sequences + n) * at.classes + path.Class(s)];
    if (step == 0) {
      *now = s < 2 ? emitted : -INFINITY;
      return;
    }
    const float* before = now - at.sequences * at.path_size;
    float sum = before[0];
    if (s >= 1) sum = LogAdd(sum, before[-1]);
    if (path.Skips(s)) sum = LogAdd(sum, before[-2]);
    *now = sum + emitted;
  }
};

struct LossOf {
  CtcTargets at;
  const float* alpha;
  float* losses;
  MOKA_HD void operator()(int64_t n) const {
    const Path path = PathOf(at, n);
    if (path.size == 0) {
      losses[n] = 0;
      return;
    }
    const int64_t last = static_cast<int64_t>(at.lengths[n]) - 1;
    const float* end = alpha + (last * at.sequences + n) * at.path_size + path.size - 1;
    losses[n] = -(path.size == 1 ? end[0] : LogAdd(end[0], end[-1]));
  }
};

/// beta: the logarithm of the probability of the rest of the label after step t, at position s.
struct BetaStep {
  CtcTargets at;
  int64_t step;
  const float* log_p;
  float* beta;
  MOKA_HD void operator()(int64_t n, int64_t s) const {
    const Path path = PathOf(at, n);
    const int64_t last = static_cast<int64_t>(at.lengths[n]) - 1;
    if (s >= path.size || step > last) return;
    float* now = beta + (step * at.sequences + n) * at.path_size + s;
    if (step == last) {
      *now = s + 2 >= path.size ? 0.0f : -INFINITY;
      return;
    }
    const float* after = now + at.sequences * at.path_size;
    const float* emitted = log_p + ((step + 1) * at.sequences + n) * at.classes;
    float sum = after[0] + emitted[path.Class(s)];
    if (s + 1 < path.size) sum = LogAdd(sum, after[1] + emitted[path.Class(s + 1)]);
    if (path.Skips(s + 2)) sum = LogAdd(sum, after[2] + emitted[path.Class(s + 2)]);
    *now = sum;
  }
};

/// softmax - the probability, given the label, of being at the class at this step.
struct GradientAt {
  CtcTargets at;
  const float* log_p;
  const float* alpha;
  const float* beta;
  const float* losses;
  const float* weight;
  const float* inverse;
  float* gradient;
  MOKA_HD void operator()(int64_t t, int64_t n) const {
    const Path path = PathOf(at, n);
    const int64_t row = t * at.sequences + n, begin = row * at.classes;
    if (path.size == 0 || t >= static_cast<int64_t>(at.lengths[n])) {
      for (int64_t c = 0; c < at.classes; ++c) gradient[begin + c] = 0;
      return;
    }
    const float scale = *weight * *inverse;
    for (int64_t c = 0; c < at.classes; ++c) gradient[begin + c] = scale * expf(log_p[begin + c]);
    for (int64_t s = 0; s < path.size; ++s) {
      const int64_t i = row * at.path_size + s;
      gradient[begin + path.Class(s)] -= scale * expf(alpha[i] + beta[i] + losses[n]);
    }
  }
};

}  // namespace

void CtcForward(Context& context, const CtcTargets& targets, const float* scores, float* log_p,
                float* alpha, float* losses) {
  ForEach2D(context, targets.steps, targets.sequences, LogSoftmax{targets, scores, log_p},
            16 * targets.classes);
  for (int64_t t = 0; t < targets.steps; ++t) {
    ForEach2D(context, targets.sequences, targets.path_size, AlphaStep{targets, t, log_p, alpha},
              kStepWork);
  }
  ForEach(context, targets.sequences, LossOf{targets, alpha, losses});
}

void CtcBackward(Context& context, const CtcTargets& targets, const float* log_p,
                 const float* alpha, const float* losses, const float* weight, const float* inverse,
                 float* beta, float* gradient) {
  for (int64_t t = targets.steps - 1; t >= 0; --t) {
    ForEach2D(context, targets.sequences, targets.path_size, BetaStep{targets, t, log_p, beta},
              kStepWork);
  }
  ForEach2D(context, targets.steps, targets.sequences,
            GradientAt{targets, log_p, alpha, beta, losses, weight, inverse, gradient},
            10 * (targets.classes + targets.path_size));
}

}  // namespace moka
