#include "moka/layers/loss_normalizer.hpp"

namespace moka {
namespace {

LossParameter::NormalizationMode ModeOf(const LossParameter& loss,
                                        LossParameter::NormalizationMode otherwise) {
  if (loss.has_normalization()) return loss.normalization();
  if (!loss.has_normalize()) return otherwise;
  return loss.normalize() ? LossParameter::VALID : LossParameter::BATCH_SIZE;
}

}  // namespace

LossNormalizer::LossNormalizer(double fixed) : fixed_(fixed) {}

LossNormalizer::LossNormalizer(const LossParameter& loss,
                               LossParameter::NormalizationMode otherwise, int64_t positions,
                               int64_t items) {
  switch (ModeOf(loss, otherwise)) {
    case LossParameter::FULL:
      fixed_ = static_cast<double>(positions);
      break;
    case LossParameter::VALID:
      by_valid_ = true;
      break;
    case LossParameter::BATCH_SIZE:
      fixed_ = static_cast<double>(items);
      break;
    case LossParameter::NONE:
      break;
    case LossParameter::PRE_FIXED:
      fixed_ = loss.pre_fixed_normalizer();
      break;
  }
}

}  // namespace moka
