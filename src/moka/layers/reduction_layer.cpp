#include <cmath>

#include "moka/device/reduce.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

using Operation = ReductionParameter::ReductionOp;

struct LoadTerm {
  Operation operation;
  const float* x;
  int64_t columns;
  MOKA_HD float operator()(int64_t row, int64_t column) const {
    const float value = x[row * columns + column];
    if (operation == ReductionParameter::ASUM) return fabsf(value);
    return operation == ReductionParameter::SUMSQ ? value * value : value;
  }
};

struct TermGradient {
  Operation operation;
  float scale;
  const float* x;
  const float* dy;
  float* dx;
  int64_t columns;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    float slope = 1;
    if (operation == ReductionParameter::ASUM) {
      slope = x[i] > 0 ? 1.0f : (x[i] < 0 ? -1.0f : 0.0f);
    } else if (operation == ReductionParameter::SUMSQ) {
      slope = 2 * x[i];
    }
    dx[i] = scale * slope * dy[row];
  }
};

/// coeff times the sum (SUM), the sum of magnitudes (ASUM) or of squares (SUMSQ), or the mean
/// (MEAN) over `axis` and all axes behind it; the top has the axes before it. Caffe's Reduction.
class ReductionLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& shape = bottoms[0]->shape();
    const int axis = shape.Axis(param().reduction_param().axis());
    tops[0]->Resize(shape.Slice(0, axis));
    rows_ = shape.Count(0, axis);
    columns_ = shape.Count(axis);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    ReduceRows<SumOf>(context, rows_, columns_, LoadTerm{operation(), x, columns_},
                      StoreScaled{tops[0]->data().Write(context), Scale(), 0});
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* x = bottoms[0]->data().Read(context);
    const float* dy = tops[0]->diff().Read(context);
    ForEach2D(
        context, rows_, columns_,
        TermGradient{operation(), Scale(), x, dy, bottoms[0]->diff().Write(context), columns_});
  }

  int64_t Operations(const BlobVector& bottoms, const BlobVector&) const override {
    return bottoms[0]->count();
  }

 private:
  Operation operation() const { return param().reduction_param().operation(); }

  float Scale() const {
    const float coeff = param().reduction_param().coeff();
    return operation() == ReductionParameter::MEAN ? coeff / static_cast<float>(columns_) : coeff;
  }

  int64_t rows_ = 0;
  int64_t columns_ = 0;
};

const RegisterLayer<ReductionLayer> kRegistration(
    LayerInfo("Reduction")
        .Summary("sum, mean, or sum of magnitudes or squares over trailing axes")
        .Field("reduction_param")
        .Bottoms(1, "any shape")
        .Tops(1, "the axes before `axis`"));

}  // namespace
}  // namespace moka
