#pragma once

#include "moka/layers/recurrent_layer.hpp"

namespace moka {

/// The loop of an LSTM over its steps, for LSTM and Lstm. The sums' gradients are cut to
/// [-bound, bound].
class LstmLoop : public RecurrentLayer {
 public:
  LstmLoop(const LayerParameter& param, const RecurrentForm& form, float bound);

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;
  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override;
  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override;

 private:
  float bound_;
  Tensor cells_;  // (T + 1) x N x H: c before step 0, then of each step
};

}  // namespace moka
