#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"
#include "moka/device/reduce.hpp"
#include "moka/layers/class_labels.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

struct LookUp {
  ClassLabels indices;
  int64_t outputs;
  const float* weight;
  const float* bias;  // null for 0
  float* y;
  MOKA_HD void operator()(int64_t item, int64_t output) const {
    const float added = bias == nullptr ? 0.0f : bias[output];
    y[item * outputs + output] = weight[indices[item] * outputs + output] + added;
  }
};

// One output for all items: so indices that repeat add up in order, whatever the device.
struct AddToRows {
  ClassLabels indices;
  int64_t items;
  int64_t outputs;
  const float* dy;
  float* gradient;
  MOKA_HD void operator()(int64_t output) const {
    for (int64_t item = 0; item < items; ++item) {
      gradient[indices[item] * outputs + output] += dy[item * outputs + output];
    }
  }
};

/// y = row `index` of a learned table, plus a learned bias: an InnerProduct of one-hot vectors.
///
/// Bottom: indices of any shape, in [0, input_dim), cut to whole numbers. Top: the bottom's axes
/// and num_output as a last one. Params: table input_dim x num_output, bias num_output. The bottom
/// has no derivative. Throws Error for an index outside. Follows Caffe's Embed.
class EmbedLayer : public Layer {
 public:
  using Layer::Layer;

  bool Differentiable(int) const override { return false; }

  void SetUp(const BlobVector&, const BlobVector&) override {
    const EmbedParameter& embed = param().embed_param();
    rows_ = embed.input_dim();
    outputs_ = embed.num_output();
    Require(rows_ > 0, "embed_param.input_dim, the number of indices, must be positive");
    Require(outputs_ > 0, "embed_param.num_output must be positive");
    AddParam(Shape{rows_, outputs_}, embed.weight_filler());
    if (embed.bias_term()) AddParam(Shape{outputs_}, embed.bias_filler());
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    std::vector<int64_t> dims = bottoms[0]->shape().dims();
    dims.push_back(outputs_);
    tops[0]->Resize(Shape(dims));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const ClassLabels indices = indices_.Check(context, *bottoms[0], rows_);
    const float* weight = param_blob(0).data().Read(context);
    const float* bias = params().size() > 1 ? param_blob(1).data().Read(context) : nullptr;
    ForEach2D(context, bottoms[0]->count(), outputs_,
              LookUp{indices, outputs_, weight, bias, tops[0]->data().Write(context)});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>&,
                const BlobVector& bottoms) override {
    const int64_t items = bottoms[0]->count();
    const float* dy = tops[0]->diff().Read(context);
    float beta;
    if (param_propagate(0)) {
      float* gradient = param_blob(0).diff().Accumulate(context, &beta);
      if (beta == 0) Fill(context, rows_ * outputs_, 0, gradient);
      const ClassLabels indices = indices_.Known(context, *bottoms[0], rows_);
      ForEach(context, outputs_, AddToRows{indices, items, outputs_, dy, gradient});
    }
    if (params().size() > 1 && param_propagate(1)) {
      float* gradient = param_blob(1).diff().Accumulate(context, &beta);
      ReduceColumns<SumOf>(context, items, outputs_, LoadRowMajor{dy, outputs_},
                           StoreScaled{gradient, 1, beta});
    }
  }

 private:
  LabelReader indices_{{"index", "embed_param.input_dim must exceed the largest index"}};
  int64_t rows_ = 0;
  int64_t outputs_ = 0;
};

const RegisterLayer<EmbedLayer> kRegistration(LayerInfo("Embed")
                                                  .Summary("a learned vector for each index")
                                                  .Field("embed_param")
                                                  .Bottoms(1, "indices, any shape")
                                                  .Tops(1, "the bottom's axes and num_output"));

}  // namespace
}  // namespace moka
