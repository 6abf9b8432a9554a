#include "moka/base/philox.hpp"
#include "moka/device/for_each.hpp"
#include "moka/layers/registry.hpp"
#include "moka/layers/view_layer.hpp"

namespace moka {
namespace {

/// Serves both ways: the mask is a function of pass and element, so nothing has to be kept.
struct DropElements {
  Philox philox;
  int64_t pass;
  float ratio, scale;
  const float* from;
  float* to;
  MOKA_HD void operator()(int64_t i) const {
    to[i] = philox.Uniform(pass, i) >= ratio ? from[i] * scale : 0.0f;
  }
};

/// In training, y = 0 with probability dropout_ratio, else x / (1 - dropout_ratio), drawn anew for
/// each element and pass; in testing, y = x. Any shape. Follows Caffe's Dropout (Srivastava et al.,
/// JMLR 2014). Of forks: sample_weights_test drops in testing as in training; with scale_train:
/// false kept values stay as they are in training, and testing multiplies by 1 - dropout_ratio.
/// Throws for a ratio outside [0, 1).
class DropoutLayer : public ViewLayer {
 public:
  using ViewLayer::ViewLayer;

  void SetUp(const BlobVector&, const BlobVector&) override {
    const DropoutParameter& dropout = param().dropout_param();
    ratio_ = dropout.dropout_ratio();
    Require(ratio_ >= 0 && ratio_ < 1, "has dropout_ratio ", ratio_, ", which is not in [0, 1)");
    drops_ = phase() == TRAIN || dropout.sample_weights_test();
    const bool scales_test =
        dropout.has_scale_test() ? dropout.scale_test() : !dropout.scale_train();
    if (!drops_) scale_ = scales_test ? 1 - ratio_ : 1;
    if (drops_) scale_ = dropout.scale_train() ? 1 / (1 - ratio_) : 1;
  }

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    tops[0]->Resize(bottoms[0]->shape());
  }

  bool SharesMemory() const override { return !drops_ && scale_ == 1; }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    if (SharesMemory()) return ViewLayer::Forward(context, bottoms, tops);
    Change(context, bottoms[0]->data(), &tops[0]->data());
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (SharesMemory()) return ViewLayer::Backward(context, tops, propagate, bottoms);
    if (propagate[0]) Change(context, tops[0]->diff(), &bottoms[0]->diff());
  }

 private:
  void Change(Context& context, const Tensor& from, Tensor* to) const {
    const float* values = from.Read(context);
    if (!drops_) return Axpby(context, from.count(), scale_, values, 0, to->Write(context));
    const int64_t own_seed = param().dropout_param().random_seed();
    const Philox philox = Philox::For(own_seed >= 0 ? static_cast<uint64_t>(own_seed) : seed(),
                                      StreamOf(param().name()));
    ForEach(context, from.count(),
            DropElements{philox, pass(), ratio_, scale_, values, to->Write(context)});
  }

  float ratio_ = 0, scale_ = 1;
  bool drops_ = false;
};

const RegisterLayer<DropoutLayer> kRegistration(LayerInfo("Dropout")
                                                    .Summary("zeroes values at random in training")
                                                    .Field("dropout_param")
                                                    .Bottoms(1, "any shape")
                                                    .Tops(1, "the same shape")
                                                    .InPlace());

}  // namespace
}  // namespace moka
