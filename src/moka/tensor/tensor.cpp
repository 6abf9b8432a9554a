#include "moka/tensor/tensor.hpp"

#include "moka/base/error.hpp"
#include "moka/tensor/storage.hpp"

namespace moka {

Tensor::Tensor() : Tensor(Shape()) {}

Tensor::Tensor(const Shape& shape)
    : shape_(shape), count_(shape.Count()), storage_(std::make_shared<Storage>(count_)) {}

void Tensor::set_name(const std::string& name) { storage_->name = name; }

void Tensor::Resize(const Shape& shape) {
  const int64_t count = shape.Count();
  shape_ = shape;
  if (count == count_) return;
  count_ = count;
  if (storage_.use_count() == 1) {
    storage_->Reset(count);
  } else {
    const std::string name = storage_->name;
    storage_ = std::make_shared<Storage>(count);
    storage_->name = name;
  }
}

void Tensor::ShareWith(const Tensor& other) {
  Require(count_ == other.count_, "blob \"", storage_->name, "\" (", shape_,
          ") cannot share the content of \"", other.storage_->name, "\" (", other.shape_, ")");
  storage_ = other.storage_;
}

const float* Tensor::Read(Context& context) const {
  return static_cast<const float*>(storage_->Read(&context, nullptr));
}

float* Tensor::Write(Context& context) {
  return static_cast<float*>(storage_->Write(&context, nullptr));
}

float* Tensor::ReadWrite(Context& context) {
  return static_cast<float*>(storage_->ReadWrite(&context));
}

void Tensor::SetZero() { storage_->SetZero(); }

bool Tensor::is_zero() const { return storage_->is_zero(); }

float* Tensor::Accumulate(Context& context, float* beta) {
  *beta = storage_->is_zero() ? 0.0f : 1.0f;
  return storage_->is_zero() ? Write(context) : ReadWrite(context);
}

const float* Tensor::Read() const {
  return static_cast<const float*>(storage_->Read(nullptr, nullptr));
}

float* Tensor::Write() { return static_cast<float*>(storage_->Write(nullptr, nullptr)); }

float* Tensor::ReadWrite() { return static_cast<float*>(storage_->ReadWrite(nullptr)); }

const void* Tensor::ReadAs(Context& context, const std::shared_ptr<const Layout>& layout) const {
  return storage_->Read(&context, layout);
}

void* Tensor::WriteAs(Context& context, const std::shared_ptr<const Layout>& layout) {
  return storage_->Write(&context, layout);
}

std::shared_ptr<const Layout> Tensor::ForeignLayout(const Context& context) const {
  const auto layout = storage_->ForeignLayout(context);
  return layout != nullptr && layout->shape() == shape_ ? layout : nullptr;
}

bool Tensor::written() const { return storage_->written(); }

size_t Tensor::allocated_bytes() const { return storage_->allocated_bytes(); }

}  // namespace moka
