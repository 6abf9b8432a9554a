#include <cmath>

#include "moka/device/math.hpp"
#include "moka/layers/channels.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct RepeatRow {
  const float* row;
  int64_t columns;
  float* out;
  MOKA_HD void operator()(int64_t i, int64_t j) const { out[i * columns + j] = row[j]; }
};

/// Inverse lengths of the weights of each output, from the sum of squares.
struct StoreInverseLength {
  float* inverse;
  MOKA_HD void operator()(int64_t output, float sum) const {
    inverse[output] = sum > 0 ? 1 / sqrtf(sum) : 0;
  }
};

struct Shorten {
  const float* weights;
  const float* inverse;
  float* unit;
  MOKA_HD void operator()(int64_t output, int64_t i) const {
    unit[i] = weights[i] * inverse[output];
  }
};

/// The gradient of weights from that of their unit vectors: what points along them falls away.
struct AddProjected {
  const float* gradient;
  const float* unit;
  const float* along;
  const float* inverse;
  float* out;
  float beta;
  MOKA_HD void operator()(int64_t output, int64_t i) const {
    const float value = (gradient[i] - along[output] * unit[i]) * inverse[output];
    out[i] = beta == 0.0f ? value : value + beta * out[i];
  }
};

/// y = x W^T + b: x is M x K, with K the values from `axis` on and M those before it; W is
/// num_output x K (K x num_output with `transpose`), b num_output. The top has the bottom's axes
/// before `axis`, then num_output. With `normalize` (of forks for faces) the weights of each output
/// are divided by their length first. Follows Caffe's InnerProduct.
/// Throws where a later bottom has another K than the weights.
class InnerProductLayer : public Layer {
 public:
  using Layer::Layer;

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    const InnerProductParameter& fields = param().inner_product_param();
    if (fields.num_output() == 0) {
      FailAt(param(),
             fields.has_num_output() ? "inner_product_param.num_output" : "inner_product_param",
             "num_output (the number of outputs) is ", fields.has_num_output() ? "0" : "missing");
    }
    outputs_ = fields.num_output();
    inputs_ = bottoms[0]->shape().Count(Axis(*bottoms[0]));
    AddParam(fields.transpose() ? Shape{inputs_, outputs_} : Shape{outputs_, inputs_},
             fields.weight_filler());
    if (fields.bias_term()) AddParam({outputs_}, fields.bias_filler());
    if (!normalized()) return;
    unit_.Resize(param_blob(0).shape());
    inverse_length_.Resize({outputs_});
    along_.Resize({outputs_});
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& bottom = bottoms[0]->shape();
    const int axis = Axis(*bottoms[0]);
    Require(bottom.Count(axis) == inputs_, "bottom \"", bottoms[0]->name(), "\" has ",
            bottom.Count(axis), " values an item (", bottom, "), but the weights are for ",
            inputs_);
    items_ = bottom.Count(0, axis);
    std::vector<int64_t> top = bottom.Slice(0, axis).dims();
    top.push_back(outputs_);
    tops[0]->Resize(Shape(top));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    if (normalized()) Normalize(context);
    const float* weights = Weights(context);
    float* y = tops[0]->data().Write(context);
    if (has_bias()) {
      const float* bias = param_blob(1).data().Read(context);
      ForEach2D(context, items_, outputs_, RepeatRow{bias, outputs_, y});
    }
    Gemm(context, false, !transposed(), items_, outputs_, inputs_, 1.0f, x, weights,
         has_bias() ? 1.0f : 0.0f, y);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const float* dy = tops[0]->diff().Read(context);
    float beta;
    if (param_propagate(0)) {
      const float* x = bottoms[0]->data().Read(context);
      float* gradient = param_blob(0).diff().Accumulate(context, &beta);
      if (normalized()) {
        float* of_unit = context.Scratch(unit_.count());
        WeightGradient(context, x, dy, 0.0f, of_unit);
        AddOfUnit(context, of_unit, beta, gradient);
      } else {
        WeightGradient(context, x, dy, beta, gradient);
      }
    }
    if (has_bias() && param_propagate(1)) {
      float* gradient = param_blob(1).diff().Accumulate(context, &beta);
      ReduceColumns<SumOf>(context, items_, outputs_, LoadRowMajor{dy, outputs_},
                           StoreScaled{gradient, 1.0f, beta});
    }
    if (propagate[0]) {
      const float* weights = Weights(context);
      float* dx = bottoms[0]->diff().Write(context);
      Gemm(context, false, transposed(), items_, inputs_, outputs_, 1.0f, dy, weights, 0.0f, dx);
    }
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override {
    return 2 * items_ * inputs_ * outputs_;
  }

 private:
  bool has_bias() const { return param().inner_product_param().bias_term(); }
  bool transposed() const { return param().inner_product_param().transpose(); }

  bool normalized() const { return param().inner_product_param().normalize(); }

  const float* Weights(Context& context) {
    return (normalized() ? unit_ : param_blob(0).data()).Read(context);
  }

  /// The weights seen around the axis of outputs.
  AxisView Outputs() const {
    return transposed() ? AxisView{inputs_, outputs_, 1} : AxisView{1, outputs_, inputs_};
  }

  void Normalize(Context& context) {
    const float* weights = param_blob(0).data().Read(context);
    float* inverse = inverse_length_.Write(context);
    SumChannels(context, Outputs(), LoadProduct{weights, weights}, StoreInverseLength{inverse});
    ForEachChannel(context, Outputs(), Shorten{weights, inverse, unit_.Write(context)});
  }

  void WeightGradient(Context& context, const float* x, const float* dy, float beta,
                      float* gradient) const {
    if (transposed()) {
      Gemm(context, true, false, inputs_, outputs_, items_, 1.0f, x, dy, beta, gradient);
    } else {
      Gemm(context, true, false, outputs_, inputs_, items_, 1.0f, dy, x, beta, gradient);
    }
  }

  void AddOfUnit(Context& context, const float* of_unit, float beta, float* gradient) {
    const float* unit = unit_.Read(context);
    float* along = along_.Write(context);
    SumChannels(context, Outputs(), LoadProduct{of_unit, unit}, StoreScaled{along, 1, 0});
    ForEachChannel(
        context, Outputs(),
        AddProjected{of_unit, unit, along, inverse_length_.Read(context), gradient, beta});
  }

  /// The first axis that belongs to an item, from 0.
  int Axis(const Blob& bottom) const {
    const int axis = param().inner_product_param().axis();
    const int axes = bottom.shape().axes();
    if (axis < -axes || axis >= axes) {
      FailAt(param(), "inner_product_param.axis", "axis ", axis, " of bottom \"", bottom.name(),
             "\", which has ", axes, " axes (", bottom.shape(), ")");
    }
    return bottom.shape().Axis(axis);
  }

  int64_t items_ = 0;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  Tensor unit_, inverse_length_, along_;  // of normalised weights
};

const RegisterLayer<InnerProductLayer> kRegistration(
    LayerInfo("InnerProduct")
        .Summary("every output is a weighted sum of all inputs of an item")
        .Field("inner_product_param")
        .Bottoms(1, "any shape; axes from `axis` on are the inputs of an item")
        .Tops(1, "axes before `axis` x num_output"));

}  // namespace
}  // namespace moka
