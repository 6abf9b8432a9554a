#pragma once

#include <cstdint>

#include "moka/proto/moka.pb.h"

namespace moka {

/// Checks that the fields that the policy needs are there and make sense. Throws Error that names
/// the field, and for an unknown policy the nearest one.
void CheckLearningRate(const SolverParameter& param);

/// The learning rate of an iteration, a pure function of both:
///
///   fixed      base_lr
///   step       base_lr * gamma ^ floor(iteration / stepsize)
///   exp        base_lr * gamma ^ iteration
///   inv        base_lr * (1 + gamma * iteration) ^ -power
///   multistep  base_lr * gamma ^ (stepvalues passed, one an iteration at most)
///   poly       base_lr * (1 - iteration / max_iter) ^ power
///   sigmoid    base_lr / (1 + exp(-gamma * (iteration - stepsize)))
///
/// Follows Caffe's GetLearningRate.
float LearningRate(const SolverParameter& param, int64_t iteration);

/// The number of steps taken so far by the policies step and multistep, 0 for others: the
/// current_step of a Caffe solver state.
int CurrentStep(const SolverParameter& param, int64_t iteration);

}  // namespace moka
