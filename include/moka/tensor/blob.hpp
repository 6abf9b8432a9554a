#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moka/tensor/tensor.hpp"

namespace moka {

/// What flows between layers, and what a layer learns: values and, of the same shape, the gradient
/// of the loss with respect to them.
class Blob {
 public:
  explicit Blob(const std::string& name = "", const Shape& shape = Shape()) {
    Resize(shape);
    set_name(name);
  }

  const std::string& name() const { return name_; }
  void set_name(const std::string& name) {
    name_ = name;
    data_.set_name(name);
    diff_.set_name(name + " (gradient)");
  }

  const Shape& shape() const { return data_.shape(); }
  int64_t count() const { return data_.count(); }

  /// Gives both tensors another shape, see Tensor::Resize.
  void Resize(const Shape& shape) {
    data_.Resize(shape);
    diff_.Resize(shape);
  }

  Tensor& data() { return data_; }
  const Tensor& data() const { return data_; }
  Tensor& diff() { return diff_; }
  const Tensor& diff() const { return diff_; }

 private:
  std::string name_;
  Tensor data_;
  Tensor diff_;
};

using BlobVector = std::vector<Blob*>;

}  // namespace moka
