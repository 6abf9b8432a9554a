#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"
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

/// y = x W^T + b: x is M x K, with K the values from `axis` on and M those before it; W is
/// num_output x K (K x num_output with `transpose`), b num_output. The top has the bottom's axes
/// before `axis`, then num_output. Follows Caffe's InnerProduct.
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
    const float* weights = param_blob(0).data().Read(context);
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
      if (transposed()) {
        Gemm(context, true, false, inputs_, outputs_, items_, 1.0f, x, dy, beta, gradient);
      } else {
        Gemm(context, true, false, outputs_, inputs_, items_, 1.0f, dy, x, beta, gradient);
      }
    }
    if (has_bias() && param_propagate(1)) {
      float* gradient = param_blob(1).diff().Accumulate(context, &beta);
      ReduceColumns<SumOf>(context, items_, outputs_, LoadRowMajor{dy, outputs_},
                           StoreScaled{gradient, 1.0f, beta});
    }
    if (propagate[0]) {
      const float* weights = param_blob(0).data().Read(context);
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
};

const RegisterLayer<InnerProductLayer> kRegistration(
    LayerInfo("InnerProduct")
        .Summary("every output is a weighted sum of all inputs of an item")
        .Field("inner_product_param")
        .Bottoms(1, "any shape; axes from `axis` on are the inputs of an item")
        .Tops(1, "axes before `axis` x num_output"));

}  // namespace
}  // namespace moka
