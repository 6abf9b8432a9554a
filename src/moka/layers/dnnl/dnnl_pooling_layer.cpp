#include <memory>

#include "moka/layers/dnnl/dnnl_pooling.hpp"
#include "moka/layers/dnnl/register_dnnl.hpp"
#include "moka/layers/pooling_layer.hpp"

namespace moka {
namespace {

/// Pooling by oneDNN of images that come in one of its formats; all others, and what oneDNN does
/// otherwise, go the way of the yardstick.
class DnnlPoolingLayer : public PoolingLayer {
 public:
  using PoolingLayer::PoolingLayer;

  void Reshape(const BlobVector& bottoms, const BlobVector& tops) override {
    PoolingLayer::Reshape(bottoms, tops);
    pooling_.reset();
  }

  void Forward(Context& context, const BlobVector& bottoms, const BlobVector& tops) override {
    blocked_ = tops.size() == 1 && method() != PoolingParameter::STOCHASTIC &&
               IsBlocked(context, bottoms[0]->data()) && DnnlPooling::Supports(pool(), Method());
    if (!blocked_) return PoolingLayer::Forward(context, bottoms, tops);
    const dnnl::memory::desc image = DescOf(context, bottoms[0]->data());
    if (pooling_ == nullptr || pooling_->image() != image) {
      pooling_ = std::make_unique<DnnlPooling>(context, pool(), Method(), image, true);
    }
    pooling_->Forward(context, bottoms[0]->data(), &tops[0]->data());
  }

  void Backward(Context& context, const BlobVector& tops, const std::vector<bool>& propagate,
                const BlobVector& bottoms) override {
    if (!blocked_) return PoolingLayer::Backward(context, tops, propagate, bottoms);
    if (propagate[0]) pooling_->Backward(context, tops[0]->diff(), &bottoms[0]->diff());
  }

 private:
  DnnlPooling::Method Method() const {
    switch (method()) {
      case PoolingParameter::MAX:
        return DnnlPooling::Method::kMax;
      case PoolingParameter::AVE:
        return DnnlPooling::Method::kAverage;
      default:
        return DnnlPooling::Method::kAverageOfInput;
    }
  }

  bool blocked_ = false;  // in the last Forward
  std::unique_ptr<DnnlPooling> pooling_;
};

const RegisterDnnl<DnnlPoolingLayer> kRegistration("Pooling");

}  // namespace
}  // namespace moka
