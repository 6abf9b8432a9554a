#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// What every rule does before its own arithmetic: g = gradient * scale + decay * R'(w), where R is
/// |w| (L1) or w^2 / 2 (L2). (AdamW leaves the decay to its step.)
struct UpdateStep {
  float rate;   // learning rate of this param
  float decay;  // weight decay of this param
  bool l1;
  float scale;  // 1 / iter_size, times the factor of clip_gradients
  int64_t iteration;
  bool keep_step;      // whether the gradient is replaced by the step, for snapshot_diff
  float momentum = 0;  // of SGD, Nesterov and LARS
};

/// How a solver type moves a param along its gradient, and what it remembers for that: `histories`
/// tensors of the param's shape, all zero at first. One pass over the memory of each param.
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  virtual int histories() const = 0;

  virtual void Update(Context& context, const UpdateStep& step, Blob* param,
                      const std::vector<Tensor*>& history) const = 0;

  /// The rule of a solver type, "SGD", "Adam", ... Throws Error for an unknown type and for fields
  /// that the type cannot have.
  static std::unique_ptr<UpdateRule> Make(const SolverParameter& param);

  /// The names of all solver types.
  static std::vector<std::string> Types();
};

}  // namespace moka
