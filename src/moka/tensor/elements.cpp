#include "moka/tensor/elements.hpp"

namespace moka {

Elements::Elements(Context& context, bool keeps_zero, std::initializer_list<const Tensor*> tensors)
    : context_(context), count_((*tensors.begin())->count()) {
  for (const Tensor* tensor : tensors) {
    if (keeps_zero && layout_ == nullptr) layout_ = tensor->ForeignLayout(context);
  }
  if (layout_ != nullptr) count_ = static_cast<int64_t>(layout_->bytes() / sizeof(float));
}

const float* Elements::Read(const Tensor& tensor) const {
  return static_cast<const float*>(layout_ == nullptr ? tensor.Read(context_)
                                                      : tensor.ReadAs(context_, layout_));
}

float* Elements::Write(Tensor* tensor) const {
  return static_cast<float*>(layout_ == nullptr ? tensor->Write(context_)
                                                : tensor->WriteAs(context_, layout_));
}

}  // namespace moka
