#include "moka/solver/lr_policy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

struct Policy {
  std::function<float(const SolverParameter&, int64_t)> factor;
  std::vector<std::string> needs;
};

float PowerOf(float base, float exponent) { return std::pow(base, exponent); }

/// The policies by name; each gives the factor of base_lr.
const std::map<std::string, Policy>& Policies() {
  using Param = SolverParameter;
  static const std::map<std::string, Policy> kPolicies = {
      {"fixed", {[](const Param&, int64_t) { return 1.0f; }, {}}},
      {"step",
       {[](const Param& p, int64_t i) {
          return PowerOf(p.gamma(), static_cast<float>(CurrentStep(p, i)));
        },
        {"gamma", "stepsize"}}},
      {"exp",
       {[](const Param& p, int64_t i) { return PowerOf(p.gamma(), static_cast<float>(i)); },
        {"gamma"}}},
      {"inv",
       {[](const Param& p, int64_t i) {
          return PowerOf(1.0f + p.gamma() * static_cast<float>(i), -p.power());
        },
        {"gamma", "power"}}},
      {"multistep",
       {[](const Param& p, int64_t i) {
          return PowerOf(p.gamma(), static_cast<float>(CurrentStep(p, i)));
        },
        {"gamma", "stepvalue"}}},
      {"poly",
       {[](const Param& p, int64_t i) {
          return PowerOf(1.0f - static_cast<float>(i) / static_cast<float>(p.max_iter()),
                         p.power());
        },
        {"power", "max_iter"}}},
      {"sigmoid",
       {[](const Param& p, int64_t i) {
          return 1.0f / (1.0f + std::exp(-p.gamma() * static_cast<float>(i - p.stepsize())));
        },
        {"gamma", "stepsize"}}},
  };
  return kPolicies;
}

bool IsSet(const SolverParameter& param, const std::string& name) {
  const auto* field = param.GetDescriptor()->FindFieldByName(name);
  return field->is_repeated() ? param.GetReflection()->FieldSize(param, field) > 0
                              : param.GetReflection()->HasField(param, field);
}

}  // namespace

void CheckLearningRate(const SolverParameter& param) {
  std::vector<std::string> names;
  for (const auto& entry : Policies()) names.push_back(entry.first);
  Require(param.has_lr_policy(), "the solver has no lr_policy: it is one of ", Join(names, ", "));
  Require(param.has_base_lr(), "the solver has no base_lr");
  const auto policy = Policies().find(param.lr_policy());
  Require(policy != Policies().end(), "unknown lr_policy \"", param.lr_policy(), "\"",
          DidYouMean(param.lr_policy(), names), ": it is one of ", Join(names, ", "));
  for (const std::string& field : policy->second.needs) {
    Require(IsSet(param, field), "lr_policy \"", param.lr_policy(), "\" needs ", field);
  }
  Require(param.gamma() >= 0, "gamma is ", param.gamma(), ", but must not be negative");
  Require(param.lr_policy() != "step" || param.stepsize() > 0, "stepsize is ", param.stepsize(),
          ", but must be at least 1");
}

float LearningRate(const SolverParameter& param, int64_t iteration) {
  return param.base_lr() * Policies().at(param.lr_policy()).factor(param, iteration);
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

}  // namespace moka
