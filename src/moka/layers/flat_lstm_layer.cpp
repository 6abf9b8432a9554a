#include <cmath>

#include "moka/layers/lstm_loop.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

RecurrentForm FlatForm(const LayerParameter& param) {
  const LSTMParameter& fields = param.lstm_param();
  if (fields.batch_size() == 0) {
    FailAt(param, "lstm_param.batch_size", "batch_size (the number of sequences) is 0");
  }
  RecurrentForm form;
  form.field = "lstm_param";
  form.outputs = fields.num_output();
  form.gates = 4;
  form.states = 2;
  form.weight_filler = fields.weight_filler();
  form.bias_filler = fields.bias_filler();
  form.bias_last = true;
  form.sequences = fields.batch_size();
  return form;
}

float BoundOf(const LSTMParameter& fields) {
  return fields.clipping_threshold() > 0 ? fields.clipping_threshold() : INFINITY;
}

/// LSTM as Junhyuk Oh's caffe-lstm has it. The same formula as LSTM, but
///
///   - steps and sequences share the first axis, step by step: x is T*N x ..., the top T*N x H,
///   with
///     N = batch_size;
///   - the second bottom (T*N values, 0 begins a sequence anew, else 1) may be left out: each
///     Forward then begins N new sequences, and no state carries over;
///   - params are W_x (4H x D), W_h (4H x H), b (4H);
///   - with clipping_threshold, gradients of the gates' sums are cut to that magnitude at each
///   step.
///
/// Unlike there, gradients of params are added to and W_h gets none through a sequence's beginning.
class LstmLayer : public LstmLoop {
 public:
  explicit LstmLayer(const LayerParameter& param)
      : LstmLoop(param, FlatForm(param), BoundOf(param.lstm_param())) {}
};

const RegisterLayer<LstmLayer> kRegistration(
    LayerInfo("Lstm")
        .Summary("LSTM whose steps and sequences share the first axis")
        .Field("lstm_param")
        .Bottoms(1, 2, "input T*N x ..., optionally sequence indicators, T*N values")
        .Tops(1, "T*N x num_output"));

}  // namespace
}  // namespace moka
