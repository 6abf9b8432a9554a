#include "moka/layers/registry.hpp"
#include "moka/layers/strided_copy.hpp"
#include "moka/layers/view_layer.hpp"

namespace moka {
namespace {

/// The same values under another shape: `num_axes` axes from `axis` on (all by default) are
/// replaced by `shape`, in which 0 copies the bottom's axis at that place and one -1 takes what is
/// left. `num_axes: 0` inserts axes. Follows Caffe's Reshape. Throws when the counts differ.
///
/// With `pixelshuffler: r` (of a fork), channels become pixels: N x C r^2 x H x W to N x C x H r x
/// W r, y[n, c, h r + i, w r + j] = x[n, (c r + i) r + j, h, w] (Shi et al., CVPR 2016).
class ReshapeLayer : public ViewLayer {
 public:
  using ViewLayer::ViewLayer;

  bool SharesMemory() const override { return !shuffles(); }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    if (!shuffles()) return ViewLayer::Forward(context, bottoms, tops);
    const float* x = bottoms[0]->data().Read(context);
    CopyFromPart(context, shuffled_, x, tops[0]->data().Write(context));
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!shuffles()) return ViewLayer::Backward(context, tops, propagate, bottoms);
    if (!propagate[0]) return;
    const float* dy = tops[0]->diff().Read(context);
    CopyIntoPart(context, shuffled_, dy, bottoms[0]->diff().Write(context));
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const ReshapeParameter& reshape = param().reshape_param();
    if (shuffles()) return ReshapeShuffled(bottoms[0]->shape(), tops[0]);
    const Shape& in = bottoms[0]->shape();
    const int first = reshape.axis() >= 0 ? reshape.axis() : reshape.axis() + in.axes() + 1;
    Require(first >= 0 && first <= in.axes(), "axis ", reshape.axis(), " of a blob with ",
            in.axes(), " axes (", in, ")");
    Require(reshape.num_axes() >= -1, "num_axes is ", reshape.num_axes(),
            ", but must be at least 0, or -1 for all");
    const int end = reshape.num_axes() == -1 ? in.axes() : first + reshape.num_axes();
    Require(end <= in.axes(), "axis ", first, " and num_axes ", reshape.num_axes(),
            " reach beyond the axes of ", in);
    std::vector<int64_t> dims(in.dims().begin(), in.dims().begin() + first);
    int inferred = -1;
    for (int i = 0; i < reshape.shape().dim_size(); ++i) {
      int64_t dim = reshape.shape().dim(i);
      Require(dim >= -1, "dim ", dim, " in shape: it is a length, 0 (copied) or -1 (what is left)");
      if (dim == 0) {
        Require(first + i < in.axes(), "dim 0 at place ", first + i, " has no axis to copy in ",
                in);
        dim = in[first + i];
      } else if (dim == -1) {
        Require(inferred < 0, "only one dim can be -1");
        inferred = first + i;
        dim = 1;
      }
      dims.push_back(dim);
    }
    dims.insert(dims.end(), in.dims().begin() + end, in.dims().end());
    if (inferred >= 0) {
      const int64_t known = Shape(dims).Count();
      Require(known > 0 && in.Count() % known == 0, "the ", in.Count(), " values of ", in,
              " do not divide into the other ", known, " of the new shape");
      dims[inferred] = in.Count() / known;
    }
    const Shape out(dims);
    Require(out.Count() == in.Count(), "cannot turn ", in, " (", in.Count(), " values) into ", out,
            " (", out.Count(), ")");
    tops[0]->Resize(out);
  }

 private:
  bool shuffles() const { return param().reshape_param().has_pixelshuffler(); }

  void ReshapeShuffled(const Shape& in, Blob* top) {
    const int64_t r = param().reshape_param().pixelshuffler();
    Require(!param().reshape_param().has_shape(), "has pixelshuffler and a shape: give one");
    Require(in.axes() == 4 && r > 0 && in[1] % (r * r) == 0, "pixelshuffler ", r,
            " needs N x C x H x W with channels in groups of ", r * r, ", but has ", in);
    const int64_t image = in[2] * in[3];
    const Shape parts{in[0], in[1] / (r * r), in[2], r, in[3], r};
    shuffled_ = {parts, {in[1] * image, r * r * image, in[3], r * image, 1, image}};
    top->Resize({parts[0], parts[1], in[2] * r, in[3] * r});
  }

  StridedPart shuffled_;  // the top, as it lies in the bottom
};

const RegisterLayer<ReshapeLayer> kRegistration(LayerInfo("Reshape")
                                                    .Summary("the same values under another shape")
                                                    .Field("reshape_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the stated shape"));

}  // namespace
}  // namespace moka
