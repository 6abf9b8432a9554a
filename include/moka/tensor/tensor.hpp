#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "moka/device/context.hpp"
#include "moka/tensor/layout.hpp"
#include "moka/tensor/shape.hpp"

namespace moka {

class Storage;

/// One array of float32 values that lives wherever it was last written.
///
/// A Tensor has one content and several copies of it: plain on the host, plain on a device, or in
/// an engine's own layout. `Read`, `Write` and `ReadWrite` give a pointer for the context's device
/// and keep track of which copies are valid; nothing is copied, converted or allocated before it is
/// needed. A pointer stays valid until the next call for another device or layout, or `Resize`.
///
/// Assigning or copying a Tensor shares its content: both see what either writes (see `ShareWith`).
class Tensor {
 public:
  Tensor();
  explicit Tensor(const Shape& shape);

  const Shape& shape() const { return shape_; }
  int64_t count() const { return count_; }

  /// The name that errors use, "conv1" or "conv1 (gradient)".
  void set_name(const std::string& name);

  /// Gives another shape. With the same count the content stays, and stays shared; with another
  /// count the content is unspecified until written and no longer shared.
  void Resize(const Shape& shape);

  /// Sees the content of `other`, which must have the same count, from now on.
  void ShareWith(const Tensor& other);
  bool SharesWith(const Tensor& other) const { return storage_ == other.storage_; }

  /// The content, for reading. Throws Error that names the tensor if nobody wrote it.
  const float* Read(Context& context) const;

  /// Memory whose every element the caller will write; what was there is unspecified. In place, the
  /// pointer for reading is taken first, in a statement of its own.
  float* Write(Context& context);

  /// The content, to be changed in place.
  float* ReadWrite(Context& context);

  /// Makes the content all zeros without touching memory.
  void SetZero();

  /// Whether the content is known to be all zeros since SetZero.
  bool is_zero() const;

  /// For adding to the content: `*beta` is 0 if it is known to be all zeros (the caller then
  /// writes every element without reading), else 1.
  float* Accumulate(Context& context, float* beta);

  /// The same on the host.
  const float* Read() const;
  float* Write();
  float* ReadWrite();

  /// The content in an engine's layout, converted only if no such copy is valid.
  const void* ReadAs(Context& context, const std::shared_ptr<const Layout>& layout) const;
  void* WriteAs(Context& context, const std::shared_ptr<const Layout>& layout);

  /// The layout of a valid foreign copy on the context's device, null if there is none of the
  /// tensor's own shape: an engine looks here before it chooses its own.
  std::shared_ptr<const Layout> ForeignLayout(const Context& context) const;

  /// Whether there is anything to read.
  bool written() const;

  /// Bytes held in all copies.
  size_t allocated_bytes() const;

 private:
  Shape shape_;
  int64_t count_ = 1;
  std::shared_ptr<Storage> storage_;
};

}  // namespace moka
