#include <cmath>

#include "moka/base/error.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/lstm_cell.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// One step of an LSTM without its weights: c = f c' + i g, h = o tanh(c), see LstmCellForward.
///
/// Bottoms: c' (1 x N x H), the sums of the gates i, f, o, g (1 x N x 4H), cont (1 x N), a factor
/// on f. Tops: c and h (1 x N x H). The 1 may be any number: nothing passes along that axis. The
/// gradient through f is cont sigmoid's where cont is 0 or 1.
/// Follows Caffe's LSTMUnit.
class LSTMUnitLayer : public Layer {
 public:
  using Layer::Layer;

  bool Differentiable(int bottom) const override { return bottom != 2; }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& cell = bottoms[0]->shape();
    Require(cell.axes() == 3, "bottom \"", bottoms[0]->name(), "\" is ", cell,
            ", but must be 1 x sequences x units");
    sequences_ = cell.Count(0, 2);
    units_ = cell[2];
    Require(bottoms[1]->shape() == cell.With(2, 4 * units_), "the gates' sums \"",
            bottoms[1]->name(), "\" are ", bottoms[1]->shape(), ", but must be ",
            cell.With(2, 4 * units_), " for ", units_, " units");
    Require(bottoms[2]->shape() == cell.Slice(0, 2), "the sequence indicators \"",
            bottoms[2]->name(), "\" are ", bottoms[2]->shape(), ", but must be ", cell.Slice(0, 2));
    tops[0]->Resize(cell);
    tops[1]->Resize(cell);
    gates_.Resize(bottoms[1]->shape());
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* before = bottoms[0]->data().Read(context);
    const float* sums = bottoms[1]->data().Read(context);
    const float* cont = bottoms[2]->data().Read(context);
    ForEach2D(context, sequences_, units_,
              LstmCellForward{units_, cont, sums, before, gates_.Write(context),
                              tops[0]->data().Write(context), tops[1]->data().Write(context),
                              nullptr, nullptr},
              kLstmCellWork);
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    const int64_t count = sequences_ * units_;
    float* unwanted = context.Scratch(5 * count);
    const float* before = bottoms[0]->data().Read(context);
    const float* gates = gates_.Read(context);
    const float* cell = tops[0]->data().Read(context);
    const float* cell_gradient = tops[0]->diff().Read(context);
    const float* output_gradient = tops[1]->diff().Read(context);
    float* d_before = propagate[0] ? bottoms[0]->diff().Write(context) : unwanted;
    float* d_sums = propagate[1] ? bottoms[1]->diff().Write(context) : unwanted + count;
    ForEach2D(context, sequences_, units_,
              LstmCellBackward{units_, gates, before, cell, output_gradient, nullptr, nullptr,
                               cell_gradient, INFINITY, d_sums, d_before},
              kLstmCellWork);
  }

  int64_t Operations(const BlobVector&, const BlobVector& tops) const override {
    return kLstmCellWork * tops[0]->count();
  }

 private:
  int64_t sequences_ = 0, units_ = 0;
  Tensor gates_;
};

const RegisterLayer<LSTMUnitLayer> kRegistration(
    LayerInfo("LSTMUnit")
        .Summary("one step of an LSTM, without weights")
        .Bottoms(3, "c before 1 x N x H, the gates' sums 1 x N x 4H, cont 1 x N")
        .Tops(2, "c and h, 1 x N x H"));

}  // namespace
}  // namespace moka
