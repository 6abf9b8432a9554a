#pragma once

#include "moka/base/error.hpp"
#include "moka/device/context.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/tensor/blob.hpp"

namespace moka {

/// Targets of independent yes-or-no outputs.
struct SigmoidTargets {
  const float* data;
  bool ignores;
  float ignored;
  // Targets are probabilities: only the very value of ignore_label is left out.
  MOKA_HD bool Ignored(int64_t i) const { return ignores && data[i] == ignored; }

  static SigmoidTargets Of(Context& context, const Blob& targets, const LossParameter& loss) {
    return {targets.data().Read(context), loss.has_ignore_label(),
            static_cast<float>(loss.ignore_label())};
  }
};

/// Throws Error unless there are as many targets as logits.
inline void RequireTargetOfEach(const Blob& logits, const Blob& targets) {
  Require(targets.count() == logits.count(), "needs a target for each logit, but \"", logits.name(),
          "\" is ", logits.shape(), " and \"", targets.name(), "\" is ", targets.shape());
}

}  // namespace moka
