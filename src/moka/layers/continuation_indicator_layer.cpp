#include "moka/device/for_each.hpp"
#include "moka/layers/registry.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

struct BeginThenGoOn {
  int64_t sequences;
  float* out;
  MOKA_HD void operator()(int64_t step, int64_t n) const {
    out[step * sequences + n] = step == 0 ? 0.0f : 1.0f;
  }
};

/// Sequence indicators for RNN and LSTM where every batch holds whole sequences: T x N, 0 at the
/// first step and 1 after. T is time_step and N batch_size; where one is not given, the bottom's
/// axes `axis` - 1 and `axis` say. Follows the layer of that name in CRNN forks.
class ContinuationIndicatorLayer : public NoBackwardLayer {
 public:
  using NoBackwardLayer::NoBackwardLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const ContinuationIndicatorParameter& fields = param().continuation_indicator_param();
    tops[0]->Resize({Size("time_step", fields.time_step(), fields.axis() - 1, bottoms),
                     Size("batch_size", fields.batch_size(), fields.axis(), bottoms)});
  }

  void Forward(Context& context, const BlobVector&, const BlobVector& tops) override {
    const Shape& shape = tops[0]->shape();
    ForEach2D(context, shape[0], shape[1], BeginThenGoOn{shape[1], tops[0]->data().Write(context)});
  }

 private:
  int64_t Size(const char* field, int64_t given, int axis, const BlobVector& bottoms) const {
    if (given > 0) return given;
    const std::string path = Text("continuation_indicator_param.", field);
    if (bottoms.empty()) FailAt(param(), path, field, " must be given where there is no bottom");
    const Shape& shape = bottoms[0]->shape();
    if (axis < 0 || axis >= shape.axes()) {
      FailAt(param(), path, field, " is not given, and bottom \"", bottoms[0]->name(), "\" (",
             shape, ") has no axis ", axis);
    }
    return shape[axis];
  }
};

const RegisterLayer<ContinuationIndicatorLayer> kRegistration(
    LayerInfo("ContinuationIndicator")
        .Summary("sequence indicators: 0 at the first step, then 1")
        .Field("continuation_indicator_param")
        .Bottoms(0, 1, "what has the sizes, T x N x ...")
        .Tops(1, "T x N"));

}  // namespace
}  // namespace moka
