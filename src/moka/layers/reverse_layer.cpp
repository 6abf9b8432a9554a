#include "moka/device/for_each.hpp"
#include "moka/layers/axis_view.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct ReverseRows {
  AxisView view;
  const float* in;
  float* out;
  MOKA_HD void operator()(int64_t row, int64_t i) const {
    const int64_t outer = row / view.axis, mirrored = view.axis - 1 - (row - outer * view.axis);
    out[row * view.inner + i] = in[(outer * view.axis + mirrored) * view.inner + i];
  }
};

/// y = x with the order along `axis` turned around; any shape, the top has the bottom's. With an
/// LSTM before and a Reverse behind, an LSTM that reads from the last step on. Follows the layer of
/// that name in forks with CTCLoss.
class ReverseLayer : public SameShapeLayer {
 public:
  using SameShapeLayer::SameShapeLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    SameShapeLayer::Reshape(bottoms, tops);
    const int axis = param().reverse_param().axis(), axes = bottoms[0]->shape().axes();
    if (axis < -axes || axis >= axes) {
      FailAt(param(), "reverse_param.axis", "axis ", axis, " of bottom \"", bottoms[0]->name(),
             "\", which has ", axes, " axes (", bottoms[0]->shape(), ")");
    }
    view_ = AxisView::Of(bottoms[0]->shape(), axis);
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    Turn(context, bottoms[0]->data(), &tops[0]->data());
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (propagate[0]) Turn(context, tops[0]->diff(), &bottoms[0]->diff());
  }

 private:
  void Turn(Context& context, const Tensor& from, Tensor* to) const {
    const float* in = from.Read(context);
    ForEach2D(context, view_.outer * view_.axis, view_.inner,
              ReverseRows{view_, in, to->Write(context)});
  }

  AxisView view_;
};

const RegisterLayer<ReverseLayer> kRegistration(LayerInfo("Reverse")
                                                    .Summary("turns the order along an axis around")
                                                    .Field("reverse_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same shape"));

}  // namespace
}  // namespace moka
