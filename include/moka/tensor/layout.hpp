#pragma once

#include <cstddef>
#include <string>

#include "moka/device/context.hpp"

namespace moka {

/// How an engine likes to store an array, where that is not plain row-major float32: oneDNN's
/// blocked formats, bf16 NHWC for cuDNN. Tensor knows foreign layouts only by this interface.
class Layout {
 public:
  virtual ~Layout() = default;

  virtual std::string name() const = 0;
  virtual size_t bytes() const = 0;
  virtual bool Equals(const Layout& other) const = 0;

  /// Converts on the context's device.
  virtual void FromPlain(Context& context, const float* plain, void* foreign) const = 0;
  virtual void ToPlain(Context& context, const void* foreign, float* plain) const = 0;
};

}  // namespace moka
