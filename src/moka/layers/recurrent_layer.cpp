#include "moka/layers/recurrent_layer.hpp"

#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

/// What all sums of a sequence begin with.
struct FillSums {
  int64_t sequences;
  int64_t sums;
  const float* bias;
  const float* fixed;  // N x sums, null for none
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t i) const {
    const float more = fixed == nullptr ? 0.0f : fixed[row % sequences * sums + i];
    out[row * sums + i] = bias[i] + more;
  }
};

struct ScaleSequences {
  int64_t units;
  const float* factors;  // null for 1
  const float* in;
  float* out;
  MOKA_HD void operator()(int64_t n, int64_t j) const {
    const float factor = factors == nullptr ? 1.0f : factors[n];
    out[n * units + j] = factor * in[n * units + j];
  }
};

}  // namespace

RecurrentForm FormOf(const RecurrentParameter& fields, int gates, int states) {
  RecurrentForm form;
  form.field = "recurrent_param";
  form.outputs = fields.num_output();
  form.gates = gates;
  form.states = states;
  form.weight_filler = fields.weight_filler();
  form.bias_filler = fields.bias_filler();
  form.exposes_states = fields.expose_hidden();
  return form;
}

RecurrentLayer::RecurrentLayer(const LayerParameter& param, RecurrentForm form)
    : Layer(param), form_(std::move(form)), states_(form_.states) {
  for (Tensor& state : states_) state.set_name(param.name() + " (state)");
}

std::vector<Tensor*> RecurrentLayer::CarriedState() {
  std::vector<Tensor*> carried;
  if (form_.exposes_states) return carried;
  for (Tensor& state : states_) carried.push_back(&state);
  return carried;
}

bool RecurrentLayer::has_static(const BlobVector& bottoms) const {
  return static_cast<int>(bottoms.size()) > 2 + (form_.exposes_states ? form_.states : 0);
}

void RecurrentLayer::CheckCounts(const BlobVector& bottoms, const BlobVector& tops) const {
  if (form_.sequences > 0) return;
  const int exposed = form_.exposes_states ? form_.states : 0;
  const int inputs = static_cast<int>(bottoms.size()) - exposed;
  Require(inputs == 2 || inputs == 3, form_.exposes_states ? "with" : "without",
          " expose_hidden it needs ", 2 + exposed, " bottoms (input, sequence indicators",
          exposed == 0   ? ""
          : exposed == 1 ? ", first h"
                         : ", first h, first c",
          ") or, with a static input after the indicators, ", 3 + exposed, ", but has ",
          bottoms.size());
  Require(static_cast<int>(tops.size()) == 1 + exposed, form_.exposes_states ? "with" : "without",
          " expose_hidden it has ", 1 + exposed, " top(s), but ", tops.size(), " are named");
}

void RecurrentLayer::SetUp(const BlobVector& bottoms, const BlobVector& tops) {
  if (form_.outputs == 0) {
    FailAt(param(), form_.field + ".num_output",
           "num_output (the number of outputs of a step) must be given, and positive");
  }
  CheckCounts(bottoms, tops);
  const Shape& input = bottoms[0]->shape();
  Require(input.axes() >= TimeAxes(), "bottom \"", bottoms[0]->name(), "\" is ", input,
          ", but must be ",
          form_.sequences > 0 ? "steps * sequences x ..." : "steps x sequences x ...");
  inputs_ = input.Count(TimeAxes());
  AddParam({sums(), inputs_}, form_.weight_filler);
  if (!form_.bias_last) AddParam({sums()}, form_.bias_filler);
  if (has_static(bottoms)) {
    const Shape& fixed = bottoms[2]->shape();
    Require(fixed.axes() >= 1, "the static input \"", bottoms[2]->name(),
            "\" has no axes, but must be sequences x ...");
    static_inputs_ = fixed.Count(1);
    static_param_ = static_cast<int>(params().size());
    AddParam({sums(), static_inputs_}, form_.weight_filler);
  }
  hidden_param_ = static_cast<int>(params().size());
  AddParam({sums(), units()}, form_.weight_filler);
  if (form_.bias_last) {
    bias_param_ = static_cast<int>(params().size());
    AddParam({sums()}, form_.bias_filler);
  }
}

void RecurrentLayer::CheckShapes(const BlobVector& bottoms) const {
  const Blob& input = *bottoms[0];
  Require(input.shape().axes() >= TimeAxes() && input.shape().Count(TimeAxes()) == inputs_,
          "bottom \"", input.name(), "\" is ", input.shape(), ", but the weights are for ", inputs_,
          " values a step");
  if (bottoms.size() > 1 && form_.sequences == 0) {
    const Shape& cont = bottoms[1]->shape();
    Require(cont == Shape({steps_, sequences_}), "the sequence indicators \"", bottoms[1]->name(),
            "\" are ", cont, ", but must be steps x sequences, ", steps_, " x ", sequences_);
  } else if (bottoms.size() > 1) {
    Require(bottoms[1]->count() == steps_ * sequences_, "the sequence indicators \"",
            bottoms[1]->name(), "\" are ", bottoms[1]->shape(), ", but must be ",
            steps_ * sequences_, ", one a step and sequence");
  }
  if (static_param_ >= 0) {
    const Shape& fixed = bottoms[2]->shape();
    Require(fixed.axes() >= 1 && fixed[0] == sequences_ && fixed.Count(1) == static_inputs_,
            "the static input \"", bottoms[2]->name(), "\" is ", fixed, ", but must be ",
            sequences_, " x ", static_inputs_, " for ", sequences_, " sequences and the weights");
  }
  if (!form_.exposes_states) return;
  for (int k = 0; k < form_.states; ++k) {
    const Blob& state = *bottoms[first_state_bottom(bottoms) + k];
    Require(state.shape() == Shape({1, sequences_, units()}), "the first state \"", state.name(),
            "\" is ", state.shape(), ", but must be 1 x sequences x num_output, 1 x ", sequences_,
            " x ", units());
  }
}

void RecurrentLayer::Reshape(const BlobVector& bottoms, const BlobVector& tops) {
  const Shape& input = bottoms[0]->shape();
  Require(input.axes() >= TimeAxes(), "bottom \"", bottoms[0]->name(), "\" is ", input);
  sequences_ = form_.sequences > 0 ? form_.sequences : input[1];
  Require(form_.sequences == 0 || input[0] % form_.sequences == 0, "bottom \"", bottoms[0]->name(),
          "\" has ", input[0], " rows, which are not whole steps of ", form_.sequences,
          " sequences (", form_.field, ".batch_size)");
  steps_ = form_.sequences > 0 ? input[0] / sequences_ : input[0];
  Require(steps_ > 0, "bottom \"", bottoms[0]->name(), "\" has no steps (", input, ")");
  CheckShapes(bottoms);
  std::vector<int64_t> dims = input.Slice(0, TimeAxes()).dims();
  dims.push_back(units());
  tops[0]->Resize(Shape(dims));
  for (size_t i = 1; i < tops.size(); ++i) tops[i]->Resize({1, sequences_, units()});
  sums_.Resize({steps_, sequences_, sums()});
  previous_.Resize({steps_, sequences_, units()});
}

const float* RecurrentLayer::Continuation(Context& context, const BlobVector& bottoms) const {
  return bottoms.size() > 1 ? bottoms[1]->data().Read(context) : nullptr;
}

float* RecurrentLayer::Begin(Context& context, const BlobVector& bottoms, float* previous) {
  const int64_t rows = steps_ * sequences_;
  const float* fixed = nullptr;
  if (static_param_ >= 0) {
    const float* x = bottoms[2]->data().Read(context);
    const float* weights = param_blob(static_param_).data().Read(context);
    float* product = context.Scratch(step_sums());
    Gemm(context, false, true, sequences_, sums(), static_inputs_, 1, x, weights, 0, product);
    fixed = product;
  }
  const float* bias = param_blob(bias_param_).data().Read(context);
  float* out = sums_.Write(context);
  ForEach2D(context, rows, sums(), FillSums{sequences_, sums(), bias, fixed, out});
  const float* x = bottoms[0]->data().Read(context);
  const float* weights = param_blob(0).data().Read(context);
  Gemm(context, false, true, rows, sums(), inputs_, 1, x, weights, 1, out);
  const float* first = FirstState(context, bottoms, 0);
  ForEach2D(context, sequences_, units(),
            ScaleSequences{units(), Continuation(context, bottoms), first, previous});
  return out;
}

const float* RecurrentLayer::FirstState(Context& context, const BlobVector& bottoms, int k) {
  if (form_.exposes_states) {
    return bottoms[first_state_bottom(bottoms) + k]->data().Read(context);
  }
  Tensor& state = states_[k];
  const Shape shape{1, sequences_, units()};
  // Without indicators that tell, every Forward begins new sequences.
  if (!state.written() || state.shape() != shape || bottoms.size() == 1) {
    state.Resize(shape);
    state.SetZero();
  }
  return state.Read(context);
}

void RecurrentLayer::AddHidden(Context& context, const float* previous, float* sums) {
  const float* weights = param_blob(hidden_param_).data().Read(context);
  Gemm(context, false, true, sequences_, this->sums(), units(), 1, previous, weights, 1, sums);
}

void RecurrentLayer::KeepState(Context& context, const BlobVector& tops, int k, const float* last) {
  Tensor& state = form_.exposes_states ? tops[1 + k]->data() : states_[k];
  Copy(context, step_units(), last, state.Write(context));
}

void RecurrentLayer::HiddenGradient(Context& context, const float* sum_gradient,
                                    float* previous_gradient) {
  const float* weights = param_blob(hidden_param_).data().Read(context);
  Gemm(context, false, false, sequences_, units(), sums(), 1, sum_gradient, weights, 0,
       previous_gradient);
}

void RecurrentLayer::ProductGradients(Context& context, int64_t rows, int64_t inputs,
                                      const float* dy, const Blob& input, int weight, float* dx) {
  if (param_propagate(weight)) {
    const float* x = input.data().Read(context);
    float beta;
    float* gradient = param_blob(weight).diff().Accumulate(context, &beta);
    Gemm(context, true, false, sums(), inputs, rows, 1, dy, x, beta, gradient);
  }
  if (dx != nullptr) {
    const float* weights = param_blob(weight).data().Read(context);
    Gemm(context, false, false, rows, inputs, sums(), 1, dy, weights, 0, dx);
  }
}

RecurrentLayer::BackwardMemory RecurrentLayer::BeginBackward(Context& context) const {
  const int64_t all = steps_ * step_sums();
  float* begin = context.Scratch(all + 2 * step_units() + step_sums());
  return {begin, begin + all, begin + all + step_units(), begin + all + 2 * step_units()};
}

void RecurrentLayer::EndBackward(Context& context, const BackwardMemory& memory,
                                 const std::vector<bool>& propagate, const BlobVector& bottoms) {
  const int64_t rows = steps_ * sequences_;
  float beta;
  if (param_propagate(bias_param_)) {
    float* gradient = param_blob(bias_param_).diff().Accumulate(context, &beta);
    ReduceColumns<SumOf>(context, rows, sums(), LoadRowMajor{memory.sums, sums()},
                         StoreScaled{gradient, 1, beta});
  }
  if (param_propagate(hidden_param_)) {
    const float* previous = previous_.Read(context);
    float* gradient = param_blob(hidden_param_).diff().Accumulate(context, &beta);
    Gemm(context, true, false, sums(), units(), rows, 1, memory.sums, previous, beta, gradient);
  }
  ProductGradients(context, rows, inputs_, memory.sums, *bottoms[0], 0,
                   propagate[0] ? bottoms[0]->diff().Write(context) : nullptr);
  if (static_param_ >= 0) {
    ReduceColumns<SumOf>(context, steps_, step_sums(), LoadRowMajor{memory.sums, step_sums()},
                         StoreScaled{memory.fixed, 1, 0});
    ProductGradients(context, sequences_, static_inputs_, memory.fixed, *bottoms[2], static_param_,
                     propagate[2] ? bottoms[2]->diff().Write(context) : nullptr);
  }
  if (!form_.exposes_states) return;
  for (int k = 0; k < form_.states; ++k) {
    const int bottom = first_state_bottom(bottoms) + k;
    if (propagate[bottom]) bottoms[bottom]->diff().SetZero();
  }
}

int64_t RecurrentLayer::Operations(const BlobVector&, const BlobVector&) const {
  return 2 * sequences_ * sums() * (steps_ * (inputs_ + units()) + static_inputs_);
}

}  // namespace moka
