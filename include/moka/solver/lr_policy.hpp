#pragma once

#include <cstdint>

#include "moka/proto/moka.pb.h"

namespace moka {

/// Checks that the fields that the policies of rate and momentum need are there and make sense.
/// Throws Error that names the field and its place, and for an unknown policy the nearest one.
void CheckLearningRate(const SolverParameter& param);

/// The learning rate of an iteration, a pure function of what is given:
///
///   fixed       base_lr
///   step        base_lr * gamma ^ floor(iteration / stepsize)
///   exp         base_lr * gamma ^ iteration
///   inv         base_lr * (1 + gamma * iteration) ^ -power
///   multistep   base_lr * gamma ^ (stepvalues passed, one an iteration at most)
///   poly        base_lr * (1 - iteration / max_iter) ^ power
///   sigmoid     base_lr / (1 + exp(-gamma * (iteration - stepsize)))
///   cosine      min_lr + (h_k - min_lr) * (1 + cos(pi * t / T_k)) / 2 in the t-th iteration of
///   wave
///               k, where T_k = period * p_mult ^ k and h_k = base_lr * lr_mult ^ k (Loshchilov and
///               Hutter, "SGDR", ICLR 2017); without period one wave of max_iter iterations
///   sgdr        as cosine, with other defaults
///   multifixed  stagelr[k] for the first k with iteration < stageiter[k]
///   plateau     base_lr * gamma ^ steps
///   stepearly   base_lr * gamma ^ steps
///
/// `steps` is what the solver has taken of the last two (see Progress). No policy falls below
/// min_lr. In the first warmup_iter (rampup_interval) iterations the rate rises in a line from
/// warmup_start_lr (rampup_lr) to the policy's rate of iteration 0.
///
/// Follows Caffe's GetLearningRate, and its forks of SSD, NVIDIA, Intel and DeepDetect.
float LearningRate(const SolverParameter& param, int64_t iteration, int steps = 0);

/// The number of steps taken so far by the policies step and multistep, 0 for others: the
/// current_step of a Caffe solver state.
int CurrentStep(const SolverParameter& param, int64_t iteration);

/// Whether the policy depends on what comes out of the training, not on the iteration alone.
bool DependsOnTraining(const SolverParameter& param);

/// The momentum of an iteration whose learning rate is `rate`, by momentum_policy.
float Momentum(const SolverParameter& param, int64_t iteration, float rate);

}  // namespace moka
