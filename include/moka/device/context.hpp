#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "moka/device/device.hpp"
#include "moka/device/memory.hpp"

namespace moka {

/// Where and how work runs: a device, its stream and library handles, the number of threads, and
/// scratch memory. Passed explicitly to everything that computes; there is no current device.
///
/// One thread at a time may use a Context. Two Contexts are independent.
class Context {
 public:
  /// `device`: "cpu", "shadow", "cuda:N". `threads`: host threads for loops and matrix products,
  /// 0 for one a physical core.
  explicit Context(const std::string& device = "cpu", int threads = 0);

  /// On a device that exists, for instance one that another Context uses.
  Context(std::shared_ptr<Device> device, int threads);

  /// A context on the same device with one thread, for an item of ForItems.
  static Context Worker(const Context& parent);

  Context(Context&&) noexcept;
  ~Context();

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  DeviceKind kind() const { return device_->kind(); }
  int threads() const { return threads_; }

  /// The CUDA stream, null on host devices.
  void* stream() const { return stream_; }

  /// A library handle (cuBLAS, cuDNN, ...) made on first use by `make` and kept by name.
  void* Handle(const std::string& library, std::shared_ptr<void> (*make)(Context&));

  /// `count` floats on the device that stay valid until the next call of Scratch: for the use of
  /// one layer within one call. Grows as needed and is shared by all layers of a net.
  float* Scratch(int64_t count);

  /// Waits until everything asked of the device is done.
  void Synchronize() { device_->Synchronize(stream_); }

 private:
  struct Handles;
  std::shared_ptr<Device> device_;
  int threads_;
  void* stream_ = nullptr;
  Memory scratch_;
  std::unique_ptr<Handles> handles_;
};

/// The number of physical cores that this process may use.
int PhysicalCores();

}  // namespace moka
