#pragma once

#include <cstddef>
#include <memory>

#include "moka/device/device.hpp"

namespace moka {

/// A piece of a device's memory, or of the host memory that suits the device; freed with the
/// object.
class Memory {
 public:
  enum class Side { kDevice, kHost };

  Memory() = default;
  Memory(std::shared_ptr<Device> device, size_t bytes, Side side = Side::kDevice)
      : device_(std::move(device)), bytes_(bytes), side_(side) {
    data_ = side == Side::kHost ? device_->AllocateHost(bytes) : device_->Allocate(bytes);
  }
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(side_, other.side_);
    return *this;
  }
  ~Memory() {
    if (data_ == nullptr) return;
    side_ == Side::kHost ? device_->FreeHost(data_) : device_->Free(data_);
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  const std::shared_ptr<Device>& device() const { return device_; }

 private:
  std::shared_ptr<Device> device_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Side side_ = Side::kDevice;
};

}  // namespace moka
