#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "moka/layers/layer.hpp"

namespace moka {

/// How a recurrent layer is built and fed, as far as RNN, LSTM and Lstm differ.
struct RecurrentForm {
  std::string field;  // the message that configures it
  int64_t outputs = 0;
  int gates = 1;   // sums a unit at each step
  int states = 1;  // arrays that go from step to step, the hidden one first
  FillerParameter weight_filler;
  FillerParameter bias_filler;
  bool exposes_states = false;
  bool bias_last = false;  // the bias comes after the hidden weights in the order of params
  int64_t sequences = 0;   // > 0: steps and this number of sequences share the first axis
};

/// The base of layers whose units see their own output h of the step before: at each step t
///
///     sums = W_x x + b [+ W_static x_static] + W_h (cont h'),
///
/// with x of T x N x ... (D values a step and sequence), x_static of N x ..., H units, and weights
/// W_x of gates*H x D, W_h of gates*H x H. cont (T x N) is a factor on the state before: 0 begins a
/// sequence. The state carries over from one Forward to the next, or comes from bottoms and goes to
/// tops (1 x N x H) where the form exposes it; no gradient passes there, as in Caffe.
///
/// The products with x are one for all steps, as are those of the weights' gradients; only W_h is
/// applied step by step. A class that derives from it gives the loop over the steps.
class RecurrentLayer : public Layer {
 public:
  RecurrentLayer(const LayerParameter& param, RecurrentForm form);

  bool Differentiable(int bottom) const override { return bottom != 1; }
  std::vector<Tensor*> CarriedState() override;

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override;
  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override;
  int64_t Operations(const BlobVector& bottoms, const BlobVector& tops) const override;

 protected:
  int64_t steps() const { return steps_; }
  int64_t sequences() const { return sequences_; }
  int64_t units() const { return form_.outputs; }
  int64_t sums() const { return form_.gates * form_.outputs; }
  /// Values of one step, in arrays like h and in arrays like the sums.
  int64_t step_units() const { return sequences_ * units(); }
  int64_t step_sums() const { return sequences_ * sums(); }

  /// cont of step 0, null where it is 1 throughout.
  const float* Continuation(Context& context, const BlobVector& bottoms) const;
  /// cont of a later step, null where it is 1.
  const float* At(const float* cont, int64_t step) const {
    return cont == nullptr ? nullptr : cont + step * sequences_;
  }

  /// Begins a Forward: the sums of all steps without the part of the state (T x N x gates*H), and
  /// in step 0 of `previous` (T x N x H) cont times the first state h.
  float* Begin(Context& context, const BlobVector& bottoms, float* previous);
  /// State k as it is before step 0.
  const float* FirstState(Context& context, const BlobVector& bottoms, int k);
  /// sums += W_h previous, for one step.
  void AddHidden(Context& context, const float* previous, float* sums);
  /// Ends a Forward: `last` is state k after the last step.
  void KeepState(Context& context, const BlobVector& tops, int k, const float* last);

  /// Scratch memory of a Backward, until EndBackward.
  struct BackwardMemory {
    float* sums;      // T x N x gates*H, gradient of the sums
    float* previous;  // N x H, gradient of `previous` of the step that was done last
    float* cell;      // N x H, gradient of a second state
    float* fixed;     // N x gates*H, gradient of the sums summed over steps
  };
  BackwardMemory BeginBackward(Context& context) const;
  /// The gradient of `previous` from that of the sums, for one step.
  void HiddenGradient(Context& context, const float* sum_gradient, float* previous_gradient);
  /// From the gradient of the sums of all steps: gradients of the params, of x and x_static.
  void EndBackward(Context& context, const BackwardMemory& memory,
                   const std::vector<bool>& propagate, const BlobVector& bottoms);

  Tensor sums_;      // T x N x gates*H; after a step, what the gates' functions made of them
  Tensor previous_;  // T x N x H: cont times the h before

 private:
  bool has_static(const BlobVector& bottoms) const;
  int first_state_bottom(const BlobVector& bottoms) const { return has_static(bottoms) ? 3 : 2; }
  int64_t RowsOf(const Blob& input) const { return input.shape().Count(0, TimeAxes()); }
  int TimeAxes() const { return form_.sequences > 0 ? 1 : 2; }
  void CheckCounts(const BlobVector& bottoms, const BlobVector& tops) const;
  void CheckShapes(const BlobVector& bottoms) const;
  /// Adds to the gradients of a product's weights and writes its input's (null for no).
  void ProductGradients(Context& context, int64_t rows, int64_t inputs, const float* dy,
                        const Blob& input, int weight, float* dx);

  RecurrentForm form_;
  std::vector<Tensor> states_;
  int bias_param_ = 1, static_param_ = -1, hidden_param_ = 2;
  int64_t steps_ = 0, sequences_ = 0;
  int64_t inputs_ = 0, static_inputs_ = 0;
};

/// The form that recurrent_param describes.
RecurrentForm FormOf(const RecurrentParameter& fields, int gates, int states);

}  // namespace moka
