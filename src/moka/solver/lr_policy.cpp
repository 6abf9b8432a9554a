#include "moka/solver/lr_policy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/solver/solver_fields.hpp"

namespace moka {
namespace {

using Param = SolverParameter;

struct Policy {
  std::function<float(const Param&, int64_t iteration, int steps)> rate;
  std::vector<std::string> needs;
};

float PowerOf(float base, float exponent) { return std::pow(base, exponent); }

/// How far the training is, 0 to 1.
float Share(const Param& p, int64_t iteration) {
  return std::min(1.0f, static_cast<float>(iteration) / static_cast<float>(p.max_iter()));
}

float AfterSteps(const Param& p, int steps) {
  return p.base_lr() * PowerOf(p.gamma(), static_cast<float>(steps));
}

bool IsSgdr(const Param& p) { return p.lr_policy() == "sgdr"; }

float PeriodFactor(const Param& p) {
  return p.has_p_mult() ? p.p_mult() : (IsSgdr(p) ? 2.0f : 1.0f);
}

float HeightFactor(const Param& p) {
  return p.has_lr_mult() ? p.lr_mult() : (IsSgdr(p) ? 0.8f : 1.0f);
}

float Cosine(const Param& p, int64_t iteration, int) {
  const double pi = std::acos(-1.0), factor = PeriodFactor(p);
  double length = p.max_iter(), begin = 0;
  int wave = 0;
  if (p.period() > 0) {
    length = p.period();
    const auto done = static_cast<double>(iteration);
    if (factor == 1) {
      wave = static_cast<int>(iteration / p.period());
      begin = wave * length;
    }
    while (done >= begin + length) {
      begin += length;
      length *= factor;
      ++wave;
    }
  }
  const double height = p.base_lr() * std::pow(static_cast<double>(HeightFactor(p)), wave);
  const double share = std::min(1.0, (static_cast<double>(iteration) - begin) / length);
  return static_cast<float>(p.min_lr() + (height - p.min_lr()) * (1 + std::cos(pi * share)) / 2);
}

float MultiFixed(const Param& p, int64_t iteration, int) {
  int stage = 0;
  while (stage + 1 < p.stagelr_size() && iteration >= p.stageiter(stage)) ++stage;
  return p.stagelr(stage);
}

const std::map<std::string, Policy>& Policies() {
  static const std::map<std::string, Policy> kPolicies = {
      {"fixed", {[](const Param& p, int64_t, int) { return p.base_lr(); }, {"base_lr"}}},
      {"step",
       {[](const Param& p, int64_t i, int) { return AfterSteps(p, CurrentStep(p, i)); },
        {"base_lr", "gamma", "stepsize"}}},
      {"exp",
       {[](const Param& p, int64_t i, int) {
          return p.base_lr() * PowerOf(p.gamma(), static_cast<float>(i));
        },
        {"base_lr", "gamma"}}},
      {"inv",
       {[](const Param& p, int64_t i, int) {
          return p.base_lr() * PowerOf(1.0f + p.gamma() * static_cast<float>(i), -p.power());
        },
        {"base_lr", "gamma", "power"}}},
      {"multistep",
       {[](const Param& p, int64_t i, int) { return AfterSteps(p, CurrentStep(p, i)); },
        {"base_lr", "gamma", "stepvalue"}}},
      {"poly",
       {[](const Param& p, int64_t i, int) {
          return p.base_lr() * PowerOf(1.0f - Share(p, i), p.power());
        },
        {"base_lr", "power", "max_iter"}}},
      {"sigmoid",
       {[](const Param& p, int64_t i, int) {
          return p.base_lr() *
                 (1.0f / (1.0f + std::exp(-p.gamma() * static_cast<float>(i - p.stepsize()))));
        },
        {"base_lr", "gamma", "stepsize"}}},
      {"cosine", {Cosine, {"base_lr", "max_iter"}}},
      {"sgdr", {Cosine, {"base_lr", "max_iter"}}},
      {"multifixed", {MultiFixed, {"stagelr", "stageiter"}}},
      {"plateau",
       {[](const Param& p, int64_t, int steps) { return AfterSteps(p, steps); },
        {"base_lr", "gamma", "plateau_winsize"}}},
      {"stepearly",
       {[](const Param& p, int64_t, int steps) { return AfterSteps(p, steps); },
        {"base_lr", "gamma", "stepearly"}}},
  };
  return kPolicies;
}

float PolicyRate(const Param& param, int64_t iteration, int steps) {
  const float rate = Policies().at(param.lr_policy()).rate(param, iteration, steps);
  return std::max(rate, param.min_lr());
}

int WarmUp(const Param& p) { return p.has_warmup_iter() ? p.warmup_iter() : p.rampup_interval(); }

float WarmUpStart(const Param& p) {
  return p.has_warmup_start_lr() ? p.warmup_start_lr() : p.rampup_lr();
}

template <typename Values>
bool Rises(const Values& values) {
  return std::is_sorted(values.begin(), values.end());
}

void CheckPolicy(const Param& param) {
  std::vector<std::string> names;
  for (const auto& entry : Policies()) names.push_back(entry.first);
  const std::string& name = param.lr_policy();
  RequireField(param.has_lr_policy(), param, "lr_policy",
               "the solver has no lr_policy: it is one of ", Join(names, ", "));
  const auto policy = Policies().find(name);
  RequireField(policy != Policies().end(), param, "lr_policy", "unknown lr_policy \"", name, "\"",
               DidYouMean(name, names), ": it is one of ", Join(names, ", "));
  for (const std::string& field : policy->second.needs) {
    const bool set = IsSet(param, field) || (field == "max_iter" && param.has_max_epoch());
    RequireField(set, param, "lr_policy", "lr_policy \"", name, "\" needs ", field);
  }
}

void CheckValues(const Param& param) {
  const auto require = [&](bool condition, const char* field, const auto&... parts) {
    RequireField(condition, param, field, parts...);
  };
  const auto not_negative = [&](const char* field, float value) {
    require(value >= 0, field, field, " is ", value, ", but must not be negative");
  };
  const std::string& policy = param.lr_policy();
  not_negative("gamma", param.gamma());
  require(policy != "step" || param.stepsize() > 0, "stepsize", "stepsize is ", param.stepsize(),
          ", but must be at least 1");
  not_negative("min_lr", param.min_lr());
  require(PeriodFactor(param) >= 1, "p_mult", "p_mult is ", PeriodFactor(param),
          ", but must be at least 1");
  not_negative("lr_mult", param.lr_mult());
  require(policy != "multifixed" || param.stagelr_size() == param.stageiter_size(), "stagelr",
          "there are ", param.stagelr_size(), " stagelr, but ", param.stageiter_size(),
          " stageiter: give one for each");
  require(Rises(param.stageiter()), "stageiter", "the values of stageiter must rise");
  for (int size : param.plateau_winsize()) {
    require(size > 0, "plateau_winsize", "plateau_winsize is ", size, ", but must be at least 1");
  }
  require(policy != "stepearly" || param.stepearly() > 0, "stepearly", "stepearly is ",
          param.stepearly(), ", but must be at least 1");
}

void CheckWarmUp(const Param& param) {
  const std::string interval = GivenName(param, "warmup_iter", "rampup_interval");
  const std::string start = GivenName(param, "warmup_start_lr", "rampup_lr");
  RequireField(WarmUp(param) >= 0, param, interval, interval, " is ", WarmUp(param),
               ", but must not be negative");
  RequireField(WarmUpStart(param) >= 0, param, start, start, " is ", WarmUpStart(param),
               ", but must not be negative");
}

void CheckMomentum(const Param& param) {
  const std::string& policy = param.momentum_policy();
  RequireField(policy == "fixed" || policy == "poly" || policy == "opt", param, "momentum_policy",
               "unknown momentum_policy \"", policy, "\": it is fixed, poly or opt");
  const std::string& type = param.type();
  RequireField(policy == "fixed" || type == "SGD" || type == "Nesterov" || type == "LARS", param,
               "momentum_policy", "only SGD, Nesterov and LARS have a momentum that changes, not ",
               type);
  RequireField(policy != "poly" || param.has_max_iter() || param.has_max_epoch(), param,
               "momentum_policy", "momentum_policy \"poly\" needs max_iter");
}

}  // namespace

void CheckLearningRate(const SolverParameter& param) {
  CheckPolicy(param);
  CheckValues(param);
  CheckWarmUp(param);
  CheckMomentum(param);
}

float LearningRate(const SolverParameter& param, int64_t iteration, int steps) {
  const int warm_up = WarmUp(param);
  if (iteration >= warm_up) return PolicyRate(param, iteration, steps);
  const float start = WarmUpStart(param), end = PolicyRate(param, 0, 0);
  return start + (end - start) * static_cast<float>(iteration) / static_cast<float>(warm_up);
}

int CurrentStep(const SolverParameter& param, int64_t iteration) {
  if (param.lr_policy() == "step") return static_cast<int>(iteration / param.stepsize());
  int steps = 0;
  int64_t taken = -1;  // the iteration of the last step
  if (param.lr_policy() == "multistep") {
    for (int value : param.stepvalue()) {
      taken = std::max<int64_t>(value, taken + 1);
      if (taken > iteration) break;
      ++steps;
    }
  }
  return steps;
}

bool DependsOnTraining(const SolverParameter& param) {
  return param.lr_policy() == "plateau" || param.lr_policy() == "stepearly";
}

float Momentum(const SolverParameter& param, int64_t iteration, float rate) {
  const float first = param.momentum();
  if (param.momentum_policy() == "poly") {
    return first + (param.max_momentum() - first) *
                       PowerOf(Share(param, iteration), param.momentum_power());
  }
  if (param.momentum_policy() == "opt") {
    const float root = 1 - 0.5f * std::sqrt(rate);
    return param.has_max_momentum() ? std::min(root * root, param.max_momentum()) : root * root;
  }
  return first;
}

}  // namespace moka
