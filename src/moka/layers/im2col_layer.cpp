#include "moka/device/for_each.hpp"
#include "moka/layers/im2col.hpp"
#include "moka/layers/registry.hpp"

namespace moka {
namespace {

/// Lays out what every window of a convolution sees: N x C x spatial axes ->
/// N x (C * taps) x positions of the window, channel by channel, tap by tap; padding gives 0.
/// Follows Caffe's Im2col; kernel, stride, pad, dilation and axis as for Convolution.
class Im2colLayer : public Layer {
 public:
  using Layer::Layer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& bottom = bottoms[0]->shape();
    const ConvFields fields = ReadConvFields(param(), bottom);
    const int axis = fields.channel_axis;
    const std::vector<int64_t> out = ConvOutput(param(), fields, bottom);
    window_ = ConvWindow(fields, bottom[axis], bottom.Slice(axis + 1, bottom.axes()).dims(), out);
    images_ = bottom.Count(0, axis);
    std::vector<int64_t> top = bottom.Slice(0, axis).dims();
    top.push_back(window_.rows());
    top.insert(top.end(), out.begin(), out.end());
    tops[0]->Resize(Shape(top));
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    float* y = tops[0]->data().Write(context);
    const auto pass = param().convolution_param().force_nd_im2col() ? Im2colNd : Im2col;
    ForItems(context, images_, [&](Context& own, int64_t item, int) {
      pass(own, window_, x + item * window_.image_values(), y + item * column_values());
    });
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    const auto pass = param().convolution_param().force_nd_im2col() ? Col2imNd : Col2im;
    ForItems(context, images_, [&](Context& own, int64_t item, int) {
      pass(own, window_, dy + item * column_values(), dx + item * window_.image_values());
    });
  }

  int64_t Operations(const BlobVector&, const BlobVector&) const override { return 0; }

 private:
  int64_t column_values() const { return window_.rows() * window_.map_size; }

  ConvWindow window_;
  int64_t images_ = 0;
};

const RegisterLayer<Im2colLayer> kRegistration(
    LayerInfo("Im2col")
        .Summary("what every window of a convolution sees, as a matrix")
        .Field("convolution_param")
        .Bottoms(1, "images, N x C x spatial axes")
        .Tops(1, "N x (C * kernel) x positions of the window"));

}  // namespace
}  // namespace moka
