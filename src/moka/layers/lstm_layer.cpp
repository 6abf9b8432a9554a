#include <cmath>

#include "moka/layers/lstm_loop.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Long short-term memory over T steps of N sequences, with
///
///     i, f, o = sigmoid(W_x x + b [+ W_static x_static] + W_h (cont h')),  g = tanh(the same),
///     c = cont f c' + i g,  h = o tanh(c),
///
/// where h', c' are those of the step before and cont (T x N) is a factor on them: 0 begins a
/// sequence anew. h and c of the last step carry over to the next Forward.
///
/// Bottoms: x (T x N x ..., D values), cont (T x N), optionally x_static (N x ..., S values); with
/// expose_hidden the first h and c (1 x N x H) as well. Tops: h (T x N x H); with expose_hidden the
/// last h and c. No gradient passes through exposed states. Params: W_x (4H x D), b (4H),
/// [W_static (4H x S)], W_h (4H x H), with the gates in the order i, f, o, g. T may change between
/// passes. Hochreiter and Schmidhuber (1997); Donahue et al. (CVPR 2015). Follows Caffe's LSTM.
class LSTMLayer : public LstmLoop {
 public:
  explicit LSTMLayer(const LayerParameter& param)
      : LstmLoop(param, FormOf(param.recurrent_param(), 4, 2), INFINITY) {}
};

const RegisterLayer<LSTMLayer> kRegistration(
    LayerInfo("LSTM")
        .Summary("long short-term memory over the steps of sequences")
        .Field("recurrent_param")
        .Bottoms(2, 5,
                 "input T x N x ..., sequence indicators T x N, optionally a static input "
                 "N x ..., with expose_hidden the first h and c")
        .Tops(1, 3, "T x N x num_output, with expose_hidden the last h and c"));

}  // namespace
}  // namespace moka
