#include "moka/base/vector_math.hpp"
#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/recurrent_layer.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

constexpr int64_t kStepWork = 20;

struct StepForward {
  int64_t units;
  const float* sums;
  float* hidden;
  const float* cont_next;
  float* hidden_next;  // the hidden values times cont of the next step; null if there is none
  MOKA_HD void operator()(int64_t n, int64_t j) const {
    const int64_t at = n * units + j;
    const float h = VectorTanh(sums[at]);
    hidden[at] = h;
    if (hidden_next != nullptr) hidden_next[at] = cont_next[n] * h;
  }
};

/// From the gradient of the output's sums to that of the step's sums, `gradient`, which at first
/// holds that of h by way of the output.
struct StepBackward {
  int64_t units;
  const float* hidden;
  const float* next_gradient;  // null if there is no next step
  const float* cont_next;
  float* gradient;
  MOKA_HD void operator()(int64_t n, int64_t j) const {
    const int64_t at = n * units + j;
    const float more = next_gradient == nullptr ? 0.0f : cont_next[n] * next_gradient[at];
    gradient[at] = (gradient[at] + more) * (1.0f - hidden[at] * hidden[at]);
  }
};

struct RepeatBias {
  const float* bias;
  int64_t units;
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t j) const { out[row * units + j] = bias[j]; }
};

struct TanhInPlace {
  float* values;
  MOKA_HD void operator()(int64_t i) const { values[i] = VectorTanh(values[i]); }
};

struct TanhGradient {
  const float* output;
  const float* output_gradient;
  float* gradient;
  MOKA_HD void operator()(int64_t i) const {
    gradient[i] = output_gradient[i] * (1.0f - output[i] * output[i]);
  }
};

/// A simple recurrent net over T steps of N sequences:
///
///     h = tanh(W_x x + b_h [+ W_static x_static] + W_h (cont h')),  o = tanh(W_o h + b_o),
///
/// where h' is that of the step before and cont (T x N) is a factor on it: 0 begins a sequence
/// anew. h of the last step carries over to the next Forward.
///
/// Bottoms: x (T x N x ..., D values), cont (T x N), optionally x_static (N x ..., S values); with
/// expose_hidden the first h (1 x N x H) as well. Tops: o (T x N x H); with expose_hidden the last
/// h. No gradient passes through exposed states. Params: W_x (H x D), b_h (H), [W_static (H x S)],
/// W_h (H x H), W_o (H x H), b_o (H). T may change between passes. Follows Caffe's RNN.
class RNNLayer : public RecurrentLayer {
 public:
  explicit RNNLayer(const LayerParameter& param)
      : RecurrentLayer(param, FormOf(param.recurrent_param(), 1, 1)) {}

  void SetUp(const BlobVector& bottoms, const BlobVector& tops) override {
    RecurrentLayer::SetUp(bottoms, tops);
    output_param_ = static_cast<int>(params().size());
    AddParam({units(), units()}, param().recurrent_param().weight_filler());
    AddParam({units()}, param().recurrent_param().bias_filler());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    RecurrentLayer::Reshape(bottoms, tops);
    hidden_.Resize({steps(), sequences(), units()});
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* cont = Continuation(context, bottoms);
    float* previous = previous_.Write(context);
    float* sums = Begin(context, bottoms, previous);
    float* hidden = hidden_.Write(context);
    for (int64_t t = 0; t < steps(); ++t) {
      const int64_t at = t * step_units();
      AddHidden(context, previous + at, sums + at);
      const bool last = t + 1 == steps();
      ForEach2D(context, sequences(), units(),
                StepForward{units(), sums + at, hidden + at, last ? nullptr : At(cont, t + 1),
                            last ? nullptr : previous + at + step_units()},
                kStepWork);
    }
    KeepState(context, tops, 0, hidden + (steps() - 1) * step_units());
    const float* weights = param_blob(output_param_).data().Read(context);
    const float* bias = param_blob(output_param_ + 1).data().Read(context);
    float* output = tops[0]->data().Write(context);
    ForEach2D(context, rows(), units(), RepeatBias{bias, units(), output});
    Gemm(context, false, true, rows(), units(), units(), 1, hidden, weights, 1, output);
    ForEach(context, rows() * units(), TanhInPlace{output});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const float* cont = Continuation(context, bottoms);
    const float* hidden = hidden_.Read(context);
    const BackwardMemory memory = BeginBackward(context);
    OutputBackward(context, tops, hidden, memory.sums);
    for (int64_t t = steps() - 1; t >= 0; --t) {
      const bool last = t + 1 == steps();
      const int64_t at = t * step_units();
      if (!last) HiddenGradient(context, memory.sums + at + step_units(), memory.previous);
      ForEach2D(context, sequences(), units(),
                StepBackward{units(), hidden + at, last ? nullptr : memory.previous,
                             last ? nullptr : At(cont, t + 1), memory.sums + at});
    }
    EndBackward(context, memory, propagate, bottoms);
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector& tops) const override {
    return RecurrentLayer::Operations(bottoms, tops) + 2 * rows() * units() * units();
  }

 private:
  int64_t rows() const { return steps() * sequences(); }

  /// Gradients of W_o and b_o, and of h by way of the output.
  void OutputBackward(Context& context, const BlobVector& tops, const float* hidden,
                      float* hidden_gradient) {
    const float* output = tops[0]->data().Read(context);
    const float* output_gradient = tops[0]->diff().Read(context);
    // sums_ has served its purpose in this pass.
    float* gradient = sums_.Write(context);
    ForEach(context, rows() * units(), TanhGradient{output, output_gradient, gradient});
    float beta;
    if (param_propagate(output_param_)) {
      float* of_weights = param_blob(output_param_).diff().Accumulate(context, &beta);
      Gemm(context, true, false, units(), units(), rows(), 1, gradient, hidden, beta, of_weights);
    }
    if (param_propagate(output_param_ + 1)) {
      float* of_bias = param_blob(output_param_ + 1).diff().Accumulate(context, &beta);
      ReduceColumns<SumOf>(context, rows(), units(), LoadRowMajor{gradient, units()},
                           StoreScaled{of_bias, 1, beta});
    }
    const float* weights = param_blob(output_param_).data().Read(context);
    Gemm(context, false, false, rows(), units(), units(), 1, gradient, weights, 0, hidden_gradient);
  }

  int output_param_ = 0;
  Tensor hidden_;  // T x N x H
};

const RegisterLayer<RNNLayer> kRegistration(
    LayerInfo("RNN")
        .Summary("simple recurrent units over the steps of sequences")
        .Field("recurrent_param")
        .Bottoms(2, 4,
                 "input T x N x ..., sequence indicators T x N, optionally a static input "
                 "N x ..., with expose_hidden the first h")
        .Tops(1, 2, "T x N x num_output, with expose_hidden the last h"));

}  // namespace
}  // namespace moka
