#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "moka/net/net.hpp"

namespace moka {

/// Milliseconds of one thing, run after run.
class Times {
 public:
  void Add(double milliseconds) { all_.push_back(milliseconds); }
  double Mean() const;
  /// 0 if nothing was timed.
  double Median() const;
  double Total() const;

 private:
  std::vector<double> all_;
};

struct LayerTimes {
  Times forward, backward;
};

/// What a net's runs took.
struct NetTimes {
  std::vector<LayerTimes> layers;
  Times forward, backward, update;
  Times iteration;  // all three
};

struct TimerOptions {
  /// Runs before the timed ones, in which memory is taken and shapes are settled.
  int warm_up = 3;
  int iterations = 50;
  bool backward = true;
  /// What follows the backward pass; null for nothing.
  std::function<void()> update;
};

/// Times whole runs and each layer in them. On a GPU each layer is waited for, so that the sum can
/// be more than what a run without a timer takes.
NetTimes TimeNet(Net* net, const TimerOptions& options);

/// Floating-point operations a second of a product of two square matrices: what this machine can do
/// with the context's threads. The best of several tries.
double GemmRate(Context& context);

}  // namespace moka
