#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace moka {

/// Float numbers in host memory, aligned to 64 bytes. New memory is not cleared, and shrinking
/// keeps it, so that a buffer which is used again and again costs nothing.
class HostBuffer {
 public:
  float* data() { return memory_.get(); }
  const float* data() const { return memory_.get(); }
  int64_t size() const { return size_; }

  /// Makes room for `size` numbers; what was in the buffer is lost if it has to grow.
  void Resize(int64_t size) {
    if (size > capacity_) {
      constexpr size_t kAlignment = 64;
      const size_t bytes = (size * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
      memory_.reset();
      capacity_ = size_ = 0;
      memory_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, bytes)));
      if (!memory_) throw std::bad_alloc();
      capacity_ = size;
    }
    size_ = size;
  }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };

  std::unique_ptr<float[], Free> memory_;
  int64_t size_ = 0, capacity_ = 0;
};

}  // namespace moka
