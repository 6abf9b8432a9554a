#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moka/device/memory.hpp"
#include "moka/tensor/layout.hpp"

namespace moka {

/// The copies of one Tensor's content, and which of them are valid.
class Storage {
 public:
  using LayoutPtr = std::shared_ptr<const Layout>;

  explicit Storage(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(float)) {}

  /// A copy on the context's device (null: the host) in `layout` (null: plain), valid on return.
  void* Read(Context* context, const LayoutPtr& layout);

  /// The same copy as the only valid one, without bringing the content there.
  void* Write(Context* context, const LayoutPtr& layout);

  void* ReadWrite(Context* context);

  void SetZero();
  bool is_zero() const { return content_ == Content::kZero; }
  bool written() const { return content_ != Content::kNothing; }
  LayoutPtr ForeignLayout(const Context& context) const;
  size_t allocated_bytes() const;

  /// Forgets the content; memory that is large enough is kept.
  void Reset(int64_t count);

  std::string name;

 private:
  enum class Content { kNothing, kZero, kWritten };

  struct CopyOf {
    std::shared_ptr<Device> device;  // null: the host
    LayoutPtr layout;                // null: plain
    void* stream = nullptr;          // of the context that wrote it last
    Memory memory;
    bool valid = false;
  };

  CopyOf& Find(Context* context, const LayoutPtr& layout);
  CopyOf* FindValid(bool on_device, bool plain);
  void Reserve(Context* context, CopyOf* copy);
  void Bring(Context* context, CopyOf* to);
  bool BringFromForeign(Context& context, CopyOf* to);
  void BringToHost(CopyOf* to);
  void MoveHostCopyTo(const std::shared_ptr<Device>& device);
  void KeepOnly(CopyOf* copy);

  size_t bytes_;
  Content content_ = Content::kNothing;
  std::vector<std::unique_ptr<CopyOf>> copies_;
};

}  // namespace moka
