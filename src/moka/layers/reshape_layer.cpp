#include "moka/layers/registry.hpp"
#include "moka/layers/view_layer.hpp"

namespace moka {
namespace {

/// The same values under another shape: `num_axes` axes from `axis` on (all by default) are
/// replaced by `shape`, in which 0 copies the bottom's axis at that place and one -1 takes what is
/// left. `num_axes: 0` inserts axes. Follows Caffe's Reshape. Throws when the counts differ.
class ReshapeLayer : public ViewLayer {
 public:
  using ViewLayer::ViewLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    const ReshapeParameter& reshape = param().reshape_param();
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
};

const RegisterLayer<ReshapeLayer> kRegistration(LayerInfo("Reshape")
                                                    .Summary("the same values under another shape")
                                                    .Field("reshape_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the stated shape"));

}  // namespace
}  // namespace moka
