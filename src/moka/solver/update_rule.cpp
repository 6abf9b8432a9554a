#include "moka/solver/update_rule.hpp"

#include <cmath>
#include <functional>
#include <map>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/device/for_each.hpp"
#include "moka/solver/solver_fields.hpp"

namespace moka {
namespace {

/// What most rules have in common.
struct RuleBase {
  static constexpr int kHistories = 1;
  /// Whether weights decay apart from the gradient, by rate * decay * R'(w).
  static constexpr bool kDecoupled = false;
  void Begin(const UpdateStep&) {}
};

/// One element of one param: regularise, let the rule turn the gradient into a step, take it.
/// Rule::Step(g, rate, h0, h1) updates the histories and returns the step.
template <typename Rule>
struct UpdateElement {
  Rule rule;
  UpdateStep step;
  float* weight;
  float* gradient;
  float* history0;
  float* history1;
  MOKA_HD void operator()(int64_t i) const {
    const float w = weight[i];
    const float sign = w > 0 ? 1.0f : (w < 0 ? -1.0f : 0.0f);
    const float decay = step.decay * (step.l1 ? sign : w);
    const float g = gradient[i] * step.scale + (Rule::kDecoupled ? 0 : decay);
    float h0 = history0[i];
    float h1 = history1 != nullptr ? history1[i] : 0;
    float move = rule.Step(g, step.rate, &h0, &h1);
    if (Rule::kDecoupled) move += step.rate * decay;
    history0[i] = h0;
    if (history1 != nullptr) history1[i] = h1;
    weight[i] = w - move;
    if (step.keep_step) gradient[i] = move;
  }
};

/// Momentum as in Sutskever et al., ICML 2013, with Caffe's sign. LARS is this rule with rates of
/// each blob's own (layer_rate.hpp).
struct SgdRule : RuleBase {
  float momentum = 0;
  explicit SgdRule(const SolverParameter&) {}
  void Begin(const UpdateStep& step) { momentum = step.momentum; }
  MOKA_HD float Step(float g, float rate, float* h, float*) const {
    return *h = rate * g + momentum * *h;
  }
};

/// Nesterov's accelerated gradient.
struct NesterovRule : RuleBase {
  float momentum = 0;
  explicit NesterovRule(const SolverParameter&) {}
  void Begin(const UpdateStep& step) { momentum = step.momentum; }
  MOKA_HD float Step(float g, float rate, float* h, float*) const {
    const float before = *h;
    *h = rate * g + momentum * before;
    return (1 + momentum) * *h - momentum * before;
  }
};

void RequireNoMomentum(const SolverParameter& param) {
  RequireField(param.momentum() == 0, param, "momentum", param.type(),
               " has no momentum, but the solver sets it to ", param.momentum());
}

/// Duchi et al., JMLR 2011.
struct AdaGradRule : RuleBase {
  float delta;
  explicit AdaGradRule(const SolverParameter& param) : delta(param.delta()) {
    RequireNoMomentum(param);
  }
  MOKA_HD float Step(float g, float rate, float* h, float*) const {
    *h += g * g;
    return rate * g / (sqrtf(*h) + delta);
  }
};

/// Tieleman and Hinton, Coursera 2012.
struct RmsPropRule : RuleBase {
  float decay, delta;
  explicit RmsPropRule(const SolverParameter& param)
      : decay(param.rms_decay()), delta(param.delta()) {
    RequireNoMomentum(param);
    RequireField(decay >= 0 && decay < 1, param, "rms_decay", "rms_decay is ", decay,
                 ", but must be in [0, 1)");
  }
  MOKA_HD float Step(float g, float rate, float* h, float*) const {
    *h = decay * *h + (1 - decay) * g * g;
    return rate * g / (sqrtf(*h) + delta);
  }
};

/// Zeiler, arXiv 1212.5701. The histories are of gradients and of updates before the rate.
struct AdaDeltaRule : RuleBase {
  static constexpr int kHistories = 2;
  float momentum, delta;
  explicit AdaDeltaRule(const SolverParameter& param)
      : momentum(param.momentum()), delta(param.delta()) {}
  MOKA_HD float Step(float g, float rate, float* h, float* u) const {
    *h = momentum * *h + (1 - momentum) * g * g;
    const float update = g * sqrtf((*u + delta) / (*h + delta));
    *u = momentum * *u + (1 - momentum) * update * update;
    return rate * update;
  }
};

/// Kingma and Ba, ICLR 2015.
struct AdamRule : RuleBase {
  static constexpr int kHistories = 2;
  float beta1, beta2, delta;
  float correction = 1;
  explicit AdamRule(const SolverParameter& param)
      : beta1(param.momentum()), beta2(param.momentum2()), delta(param.delta()) {}
  void Begin(const UpdateStep& step) {
    const float t = static_cast<float>(step.iteration + 1);
    correction = std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
  }
  MOKA_HD float Step(float g, float rate, float* m, float* v) const {
    *m = beta1 * *m + (1 - beta1) * g;
    *v = beta2 * *v + (1 - beta2) * g * g;
    return rate * correction * *m / (sqrtf(*v) + delta);
  }
};

/// Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019. Unlike Caffe's Adam
/// it adds delta to the corrected root, as the papers do.
struct AdamWRule : RuleBase {
  static constexpr int kHistories = 2;
  static constexpr bool kDecoupled = true;
  float beta1, beta2, delta;
  float correction1 = 1, correction2 = 1;
  explicit AdamWRule(const SolverParameter& param)
      : beta1(param.momentum()), beta2(param.momentum2()), delta(param.delta()) {}
  void Begin(const UpdateStep& step) {
    const auto t = static_cast<double>(step.iteration + 1);
    correction1 = static_cast<float>(1 / (1 - std::pow(double{beta1}, t)));
    correction2 = static_cast<float>(1 / std::sqrt(1 - std::pow(double{beta2}, t)));
  }
  MOKA_HD float Step(float g, float rate, float* m, float* v) const {
    *m = beta1 * *m + (1 - beta1) * g;
    *v = beta2 * *v + (1 - beta2) * g * g;
    return rate * (correction1 * *m) / (correction2 * sqrtf(*v) + delta);
  }
};

template <typename Rule>
class UpdateRuleOf : public UpdateRule {
 public:
  explicit UpdateRuleOf(const SolverParameter& param) : rule_(param) {}

  int histories() const override { return Rule::kHistories; }

  void Update(Context& context, const UpdateStep& step, Blob* param,
              const std::vector<Tensor*>& history) const override {
    Rule rule = rule_;
    rule.Begin(step);
    float* second = Rule::kHistories > 1 ? history[1]->ReadWrite(context) : nullptr;
    ForEach(context, param->count(),
            UpdateElement<Rule>{rule, step, param->data().ReadWrite(context),
                                param->diff().ReadWrite(context), history[0]->ReadWrite(context),
                                second});
  }

 private:
  Rule rule_;
};

using Maker = std::function<std::unique_ptr<UpdateRule>(const SolverParameter&)>;

template <typename Rule>
Maker MakerOf() {
  return [](const SolverParameter& param) { return std::make_unique<UpdateRuleOf<Rule>>(param); };
}

const std::map<std::string, Maker>& Makers() {
  static const std::map<std::string, Maker> kMakers = {
      {"SGD", MakerOf<SgdRule>()},           {"Nesterov", MakerOf<NesterovRule>()},
      {"AdaGrad", MakerOf<AdaGradRule>()},   {"RMSProp", MakerOf<RmsPropRule>()},
      {"AdaDelta", MakerOf<AdaDeltaRule>()}, {"Adam", MakerOf<AdamRule>()},
      {"AdamW", MakerOf<AdamWRule>()},       {"LARS", MakerOf<SgdRule>()},
  };
  return kMakers;
}

}  // namespace

std::unique_ptr<UpdateRule> UpdateRule::Make(const SolverParameter& param) {
  const auto maker = Makers().find(param.type());
  RequireField(maker != Makers().end(), param, "type", "unknown solver type \"", param.type(), "\"",
               DidYouMean(param.type(), Types()), ": it is one of ", Join(Types(), ", "));
  return maker->second(param);
}

std::vector<std::string> UpdateRule::Types() {
  std::vector<std::string> types;
  for (const auto& entry : Makers()) types.push_back(entry.first);
  return types;
}

}  // namespace moka
