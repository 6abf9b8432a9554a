#include <functional>

#include "moka/base/error.hpp"
#include "moka/proto/source.hpp"
#include "moka/solver/average_precision.hpp"
#include "moka/solver/detection_test_pass.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/solver_nets.hpp"
#include "moka/solver/update_rule.hpp"

namespace moka {
namespace {

void RequireAtLeast(int64_t least, const char* field, int64_t value) {
  Require(value >= least, field, " is ", value, ", but must be at least ", least);
}

/// Fields of the schema that would change a training, but that nothing follows yet: silence would
/// be a wrong result.
const char* const kUnsupported[] = {"max_epoch",       "warmup_iter", "warmup_start_lr",
                                    "rampup_interval", "rampup_lr",   "min_lr"};

void RefuseUnsupported(const SolverParameter& param, const std::string& name) {
  const auto* field = param.GetDescriptor()->FindFieldByName(name);
  Require(!param.GetReflection()->HasField(param, field), name,
          " can change results and is not supported yet: leave it out");
}

/// A check, and the field whose place an error gets.
struct SolverCheck {
  std::string field;
  std::function<void(const SolverParameter&)> check;
};

std::vector<SolverCheck> Checks() {
  using Param = SolverParameter;
  std::vector<SolverCheck> checks = {
      {"lr_policy", CheckLearningRate},
      {"type", [](const Param& p) { UpdateRule::Make(p); }},
      {"eval_type", CheckEvaluation},
      {"ap_version", [](const Param& p) { CheckAveragePrecision(p.ap_version()); }},
      {"regularization_type",
       [](const Param& p) {
         const std::string& l = p.regularization_type();
         Require(l == "L1" || l == "L2", "unknown regularization_type \"", l, "\": it is L1 or L2");
       }},
      {"iter_size", [](const Param& p) { RequireAtLeast(1, "iter_size", p.iter_size()); }},
      {"average_loss", [](const Param& p) { RequireAtLeast(1, "average_loss", p.average_loss()); }},
      {"snapshot", [](const Param& p) { RequireAtLeast(0, "snapshot", p.snapshot()); }},
      {"max_iter", [](const Param& p) { RequireAtLeast(0, "max_iter", p.max_iter()); }},
      {"test_interval",
       [](const Param& p) { RequireAtLeast(0, "test_interval", p.test_interval()); }},
  };
  for (const char* field : kUnsupported) {
    checks.push_back({field, [field](const Param& p) { RefuseUnsupported(p, field); }});
  }
  return checks;
}

}  // namespace

void CheckSolver(const SolverParameter& param, std::vector<std::string>* problems) {
  for (const SolverCheck& check : Checks()) {
    try {
      check.check(param);
    } catch (Error& error) {
      const std::string place = FieldPlaceOf(param.source(), check.field);
      if (!place.empty()) error.In(place);
      if (problems == nullptr) throw;
      problems->push_back(error.what());
    }
  }
}

}  // namespace moka
