#pragma once

#include <initializer_list>
#include <memory>

#include "moka/tensor/tensor.hpp"

namespace moka {

/// Access to tensors of one shape for work that treats every element by itself: in the foreign
/// layout that the first of them has, so that nothing is converted on the way from one engine's
/// layer to the next, else plain.
///
/// Foreign layouts may pad with zeros, which must stay zeros: the work has to map zeros to zeros.
class Elements {
 public:
  /// `keeps_zero`: whether the work maps zeros to zeros; if not, all is plain.
  Elements(Context& context, bool keeps_zero, std::initializer_list<const Tensor*> tensors);

  /// Elements to work on, with those that pad.
  int64_t count() const { return count_; }

  const float* Read(const Tensor& tensor) const;
  float* Write(Tensor* tensor) const;

 private:
  Context& context_;
  std::shared_ptr<const Layout> layout_;  // null: plain
  int64_t count_;
};

}  // namespace moka
