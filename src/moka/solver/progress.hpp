#pragma once

#include <cstdint>

#include "moka/net/net.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

// What training has come to so far, on which the policies plateau and stepearly and the end by
// stop_early depend. It stands in the fields of SolverState that are made for it.

/// After the loss of an iteration, before its update. The policy plateau takes a step when the last
/// new minimum, or the last step, is plateau_winsize[steps taken] iterations ago, until its
/// windows are used up. Follows SSD's fork.
void SeeLoss(const SolverParameter& param, int64_t iteration, double loss, SolverState* progress);

/// The result of a test that counts; see watched_output.
struct TestResult {
  float value = 0;
  bool lower_is_better = false;
};

/// Finds it among all values of the outputs of the first test net. Throws Error when there is no
/// output of that name.
TestResult WatchedResult(const SolverParameter& param, const Net& net,
                         const std::vector<float>& values);

/// After a test. The policy stepearly takes a step when `stepearly` tests brought no better result.
void SeeTest(const SolverParameter& param, const TestResult& result, SolverState* progress);

/// Whether stop_early says that training has come to its end.
bool HasStalled(const SolverParameter& param, const SolverState& progress);

/// The part of a solver state that is progress.
SolverState ProgressOf(const SolverState& state);

}  // namespace moka
