#include "moka/base/error.hpp"
#include "moka/solver/average_precision.hpp"
#include "moka/solver/detection_test_pass.hpp"
#include "moka/solver/layer_rate.hpp"
#include "moka/solver/lr_policy.hpp"
#include "moka/solver/solver_fields.hpp"
#include "moka/solver/solver_nets.hpp"
#include "moka/solver/update_rule.hpp"

namespace moka {
namespace {

/// A field that holds a whole number that must be this large.
struct Least {
  const char* field;
  int64_t least;
};

constexpr Least kLeasts[] = {{"iter_size", 1},     {"average_loss", 1}, {"snapshot", 0},
                             {"display", 0},       {"max_iter", 0},     {"max_epoch", 1},
                             {"test_interval", 0}, {"stop_early", 0},   {"device_id", 0}};

void CheckLeast(const SolverParameter& param, const Least& row) {
  const auto* field = param.GetDescriptor()->FindFieldByName(row.field);
  if (!param.GetReflection()->HasField(param, field)) return;
  const int64_t value = param.GetReflection()->GetInt32(param, field);
  RequireField(value >= row.least, param, row.field, row.field, " is ", value,
               ", but must be at least ", row.least);
}

void CheckRegularization(const SolverParameter& param) {
  const std::string& l = param.regularization_type();
  RequireField(l == "L1" || l == "L2", param, "regularization_type",
               "unknown regularization_type \"", l, "\": it is L1 or L2");
}

void CheckTests(const SolverParameter& param) {
  const char* field = "eval_type";
  try {
    CheckEvaluation(param);
    field = "ap_version";
    CheckAveragePrecision(param.ap_version());
  } catch (const Error& error) {
    ThrowAt(param, field, error);
  }
}

void CheckLength(const SolverParameter& param) {
  RequireField(!param.has_max_iter() || !param.has_max_epoch(), param, "max_epoch",
               "max_iter and max_epoch are both given: give one of them");
  const bool needs_tests = param.stop_early() > 0 || param.lr_policy() == "stepearly";
  RequireField(!needs_tests || param.test_interval() > 0, param,
               param.stop_early() > 0 ? "stop_early" : "stepearly",
               "the training depends on its tests, but there is no test_interval");
}

using Check = void (*)(const SolverParameter&);

constexpr Check kChecks[] = {
    CheckLearningRate, [](const SolverParameter& p) { UpdateRule::Make(p); },
    CheckLayerRates,   CheckRegularization,
    CheckTests,        CheckLength};

/// Runs a check; without `problems` its Error goes on.
template <typename Function>
void Gather(const Function& check, std::vector<std::string>* problems) {
  try {
    check();
  } catch (const Error& error) {
    if (problems == nullptr) throw;
    problems->push_back(error.what());
  }
}

}  // namespace

void CheckSolver(const SolverParameter& param, std::vector<std::string>* problems) {
  for (const Check check : kChecks) {
    Gather([&] { check(param); }, problems);
  }
  for (const Least& least : kLeasts) {
    Gather([&] { CheckLeast(param, least); }, problems);
  }
}

}  // namespace moka
