#include "net_timer.hpp"

#include <algorithm>
#include <numeric>

#include "moka/device/math.hpp"

namespace moka {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class LayerTimer : public Net::Observer {
 public:
  explicit LayerTimer(Net* net) : net_(net), times_(net->layers().size()) {
    net_->set_observer(this);
  }
  ~LayerTimer() override { net_->set_observer(nullptr); }

  void Before(int, bool) override {
    net_->context().Synchronize();
    start_ = Clock::now();
  }

  void After(int layer, bool backward) override {
    net_->context().Synchronize();
    LayerTimes& times = times_[layer];
    (backward ? times.backward : times.forward).Add(MillisecondsSince(start_));
  }

  const std::vector<LayerTimes>& times() const { return times_; }

 private:
  Net* net_;
  std::vector<LayerTimes> times_;
  Clock::time_point start_;
};

void RunOnce(Net* net, const TimerOptions& options, NetTimes* times) {
  const auto start = Clock::now();
  const auto step = [&](bool wanted, Times* time, const auto& run) {
    if (!wanted) return;
    const auto step_start = Clock::now();
    run();
    net->context().Synchronize();
    time->Add(MillisecondsSince(step_start));
  };
  step(true, &times->forward, [&] { net->Forward(); });
  step(options.backward, &times->backward, [&] {
    net->ClearParamDiffs();
    net->Backward();
  });
  step(options.update != nullptr, &times->update, [&] { options.update(); });
  times->iteration.Add(MillisecondsSince(start));
}

}  // namespace

double Times::Total() const { return std::accumulate(all_.begin(), all_.end(), 0.0); }

double Times::Mean() const { return all_.empty() ? 0 : Total() / static_cast<double>(all_.size()); }

double Times::Median() const {
  if (all_.empty()) return 0;
  std::vector<double> sorted = all_;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  return sorted[sorted.size() / 2];
}

NetTimes TimeNet(Net* net, const TimerOptions& options) {
  NetTimes warm_up, times;
  for (int i = 0; i < options.warm_up; ++i) RunOnce(net, options, &warm_up);
  LayerTimer timer(net);
  for (int i = 0; i < options.iterations; ++i) RunOnce(net, options, &times);
  times.layers = timer.times();
  return times;
}

double GemmRate(Context& context) {
  const int64_t side = context.kind() == DeviceKind::kCuda ? 8192 : 1024;
  constexpr double kMilliseconds = 500;
  Tensor a(Shape{side, side}), b(Shape{side, side}), c(Shape{side, side});
  Fill(context, a.count(), 0.5f, a.Write(context));
  Fill(context, b.count(), 0.25f, b.Write(context));
  double best = 0;
  for (const auto begin = Clock::now(); MillisecondsSince(begin) < kMilliseconds || best == 0;) {
    const float *left = a.Read(context), *right = b.Read(context);
    float* product = c.Write(context);
    context.Synchronize();
    const auto start = Clock::now();
    Gemm(context, false, false, side, side, side, 1, left, right, 0, product);
    context.Synchronize();
    const double operations = 2.0 * side * side * side;
    best = std::max(best, operations / (MillisecondsSince(start) * 1e-3));
  }
  return best;
}

}  // namespace moka
