#pragma once

#include <chrono>
#include <cstdint>

#include "moka/solver/solver.hpp"

namespace moka {

/// How fast training goes, and for how much of the time it waits for data.
struct Solver::Pace {
  static double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void Start(int64_t iteration, double waited) {
    began = shown = Now();
    first_iteration = shown_iteration = iteration;
    shown_waiting = waited;
    excluded = shown_excluded = 0;
  }

  /// Time that is not training: tests.
  void Exclude(double seconds) {
    excluded += seconds;
    shown_excluded += seconds;
  }

  double began = 0;
  double shown = 0;  // when the last line was shown
  int64_t first_iteration = 0;
  int64_t shown_iteration = 0;
  double shown_waiting = 0;
  double excluded = 0;        // since the beginning
  double shown_excluded = 0;  // since the last line
};

}  // namespace moka
