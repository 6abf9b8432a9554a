#include "moka/device/for_each.hpp"
#include "moka/layers/places.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/resize.hpp"

namespace moka {
namespace {

/// Every value fills `columns` columns; a row is one output row of all planes.
struct RepeatValues {
  int64_t rows, columns, width;  // factors; width of the input
  float factor;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    const float value = factor * x[row / rows * width + column];
    float* out = y + (row * width + column) * columns;
    for (int64_t i = 0; i < columns; ++i) out[i] = value;
  }
};

struct SumBlocks {
  int64_t rows, columns, width;
  float factor;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t row, int64_t column) const {
    float sum = 0;
    for (int64_t h = 0; h < rows; ++h) {
      const float* from = dy + ((row * rows + h) * width + column) * columns;
      for (int64_t w = 0; w < columns; ++w) sum += from[w];
    }
    dx[row * width + column] = factor * sum;
  }
};

/// Enlarges images, N x C x H x W, `scale` times (scale_h and scale_w for each side).
///
/// With a second bottom, the places of maxima that MAX pooling gave, every value goes to its place
/// and the rest is 0; upsample_h and upsample_w state the size instead, pad_out_h and pad_out_w
/// make it one smaller (SegNet, Badrinarayanan et al., 2017; of several values for one place the
/// last stays). With one bottom values are repeated (mode NEAREST, as in YOLOv3), or interpolated
/// between the centres of pixels (BILINEAR). With `stride`, which darknet has, stride enlarges and
/// scale multiplies the values.
///
/// Throws for other than 4 axes, shapes that differ, and places outside the output.
class UpsampleLayer : public Layer {
 public:
  explicit UpsampleLayer(const LayerParameter& param) : Layer(param), reader_(kPlaces) {}

  void SetUp(const BlobVector& bottoms, const BlobVector&) override {
    placed_ = bottoms.size() > 1;
    const UpsampleParameter& up = upsample();
    Require(up.has_scale_h() == up.has_scale_w(),
            "has only one of scale_h and scale_w: give both, or scale");
    const bool stated = up.has_upsample_h() || up.has_upsample_w();
    Require(placed_ || !(stated || up.pad_out_h() || up.pad_out_w()),
            "has upsample_h, upsample_w, pad_out_h or pad_out_w without a second bottom, the ",
            "places of the maxima");
    const float scale = up.has_stride() ? static_cast<float>(up.stride()) : up.scale();
    scale_h_ = up.has_scale_h() ? up.scale_h() : static_cast<int64_t>(scale);
    scale_w_ = up.has_scale_w() ? up.scale_w() : static_cast<int64_t>(scale);
    Require(
        static_cast<float>(static_cast<int64_t>(scale)) == scale && scale_h_ >= 1 && scale_w_ >= 1,
        "enlarges by ", scale, ": a whole number from 1 on is needed");
    if (up.has_stride() && up.has_scale()) factor_ = up.scale();
    Require(factor_ == 1 || (!placed_ && up.mode() == UpsampleParameter::NEAREST),
            "multiplies values by ", factor_, ", which it does only when it repeats them");
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const Shape& in = bottoms[0]->shape();
    Require(in.axes() == 4, "enlarges images, N x C x H x W, but bottom \"", bottoms[0]->name(),
            "\" has shape ", in);
    const UpsampleParameter& up = upsample();
    const int64_t height =
        up.has_upsample_h() ? up.upsample_h() : in[2] * scale_h_ - up.pad_out_h();
    const int64_t width = up.has_upsample_w() ? up.upsample_w() : in[3] * scale_w_ - up.pad_out_w();
    tops[0]->Resize({in[0], in[1], height, width});
    const int64_t planes = in[0] * in[1];
    resizing_ = {planes, ResizeAxis::AlignedEdges(in[2], height),
                 ResizeAxis::AlignedEdges(in[3], width), in[3], in[2] * in[3]};
    placed_planes_ = {planes, in[2] * in[3], height * width};
    if (!placed_) return;
    Require(bottoms[1]->shape() == in, "bottom \"", bottoms[0]->name(), "\" is ", in,
            ", but the places in bottom \"", bottoms[1]->name(), "\" are ", bottoms[1]->shape(),
            ": they must have the same shape");
  }

  bool Differentiable(int bottom) const override { return bottom == 0; }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    const float* x = bottoms[0]->data().Read(context);
    if (placed_) {
      const ClassLabels places = reader_.Check(context, *bottoms[1], placed_planes_.size);
      PutToPlaces(context, placed_planes_, places, x, tops[0]->data().Write(context));
    } else if (upsample().mode() == UpsampleParameter::BILINEAR) {
      ResizeForward(context, resizing_, x, tops[0]->data().Write(context));
    } else {
      ForEach2D(context, resizing_.planes * resizing_.h.out, resizing_.w.in,
                RepeatValues{scale_h_, scale_w_, resizing_.w.in, factor_, x,
                             tops[0]->data().Write(context)},
                scale_w_);
    }
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    float* dx = bottoms[0]->diff().Write(context);
    if (placed_) {
      const ClassLabels places = reader_.Known(context, *bottoms[1], placed_planes_.size);
      TakeFromPlaces(context, placed_planes_, places, dy, dx);
    } else if (upsample().mode() == UpsampleParameter::BILINEAR) {
      ResizeBackward(context, resizing_, dy, dx);
    } else {
      ForEach2D(context, resizing_.planes * resizing_.h.in, resizing_.w.in,
                SumBlocks{scale_h_, scale_w_, resizing_.w.in, factor_, dy, dx},
                scale_h_ * scale_w_);
    }
  }

 private:
  const UpsampleParameter& upsample() const { return param().upsample_param(); }

  bool placed_ = false;
  int64_t scale_h_ = 1, scale_w_ = 1;
  float factor_ = 1;
  Resizing resizing_;
  PlacedPlanes placed_planes_;
  LabelReader reader_;
};

const RegisterLayer<UpsampleLayer> kRegistration(
    LayerInfo("Upsample")
        .Summary("enlarges images: values repeated, interpolated or put to given places")
        .Field("upsample_param")
        .Bottoms(1, 2, "N x C x H x W, and the places of maxima from Pooling")
        .Tops(1, "N x C x h x w"));

}  // namespace
}  // namespace moka
