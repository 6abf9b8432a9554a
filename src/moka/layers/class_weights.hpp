#pragma once

#include <vector>

#include "moka/proto/moka.pb.h"
#include "moka/tensor/tensor.hpp"

namespace moka {

/// What each class counts in a loss.
class ClassWeights {
 public:
  /// From loss_param.class_weight, or SegNet's class_weighting where weight_by_label_freqs is true.
  /// Throws Error, with the field's place, for a weight below 0 and where the fields contradict.
  void ReadFrom(const LayerParameter& layer);

  /// One number for all classes, or one a class. `field` is what errors point to.
  void Set(const std::vector<float>& weights, const std::string& field);

  bool given() const { return !values_.empty(); }

  /// Throws Error unless there is a weight for each of `classes`, where any are given.
  void Fit(const LayerParameter& layer, int64_t classes);

  /// A weight a class, null if none are given.
  const float* Read(Context& context) const;

  /// The sum of all weights; `classes` if none are given.
  double Sum(int64_t classes) const;

 private:
  std::vector<float> values_;
  std::string field_;
  Tensor tensor_;
};

/// Throws Error where the layer has loss_param's class weights or label smoothing, for a loss
/// without them.
void RefuseClassWeights(const LayerParameter& layer);

}  // namespace moka
