#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "moka/device/context.hpp"
#include "moka/tensor/shape.hpp"

namespace moka {

/// How an engine likes to store an array, where that is not plain row-major float32: oneDNN's
/// blocked formats, bf16 NHWC for cuDNN. Tensor knows foreign layouts only by this interface.
class Layout {
 public:
  virtual ~Layout() = default;

  virtual std::string name() const = 0;
  virtual size_t bytes() const = 0;
  virtual Shape shape() const = 0;
  virtual bool Equals(const Layout& other) const = 0;

  /// Converts on the context's device.
  virtual void FromPlain(Context& context, const float* plain, void* foreign) const = 0;
  virtual void ToPlain(Context& context, const void* foreign, float* plain) const = 0;

  /// Converts straight from another foreign layout. False if it cannot: the way is then by plain.
  virtual bool FromForeign(Context& /*context*/, const Layout& /*other*/, const void* /*from*/,
                           void* /*to*/) const {
    return false;
  }

  /// The same layout for an array whose `axis` has another length, if parts lie behind one another
  /// along that axis just as those of plain arrays do. Null if not.
  virtual std::shared_ptr<const Layout> WithLength(int /*axis*/, int64_t /*length*/) const {
    return nullptr;
  }
};

}  // namespace moka
