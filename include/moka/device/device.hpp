#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace moka {

enum class DeviceKind { kCpu, kShadow, kCuda };

/// A place where arrays live and kernels run.
///
/// `cpu`: host memory, OpenMP loops. `cuda:N`: the N-th GPU. `shadow`: for tests on machines
/// without a GPU; its memory is separate from the host's copies, readable only while a kernel runs,
/// and the host's copies are unreadable then, so that a missing copy or a stray pointer is a
/// segmentation fault instead of a wrong number on somebody's GPU.
class Device {
 public:
  virtual ~Device() = default;

  virtual DeviceKind kind() const = 0;

  /// "cpu", "shadow" or "cuda:0".
  virtual std::string name() const = 0;

  /// Memory of this device, aligned to 64 bytes at least. Throws Error when there is not enough.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) noexcept = 0;

  /// Host memory that this device can copy from and to best. Only `shadow` insists on its own.
  virtual void* AllocateHost(size_t bytes) = 0;
  virtual void FreeHost(void* memory) noexcept = 0;

  /// Copies between host memory and this device's, in the order of `stream`; done when it returns
  /// as far as the host can see.
  virtual void Upload(void* to_device, const void* from_host, size_t bytes, void* stream) = 0;
  virtual void Download(void* to_host, const void* from_device, size_t bytes, void* stream) = 0;

  virtual void* CreateStream() { return nullptr; }
  virtual void DestroyStream(void* /*stream*/) noexcept {}
  virtual void Synchronize(void* /*stream*/) {}

  /// Called around every kernel that runs on host threads.
  virtual void BeginKernel() {}
  virtual void EndKernel() noexcept {}
};

/// The device of that name: "cpu", "shadow", "cuda" (the first GPU) or "cuda:N".
/// Throws Error for an unknown name, for a GPU that is not there, and for CUDA in a CPU-only build.
std::shared_ptr<Device> MakeDevice(const std::string& name);

/// A line for each device of this machine, for `moka device_query`.
std::string DescribeDevices();

/// Marks the time during which a kernel runs on host threads.
class KernelScope {
 public:
  explicit KernelScope(Device& device) : device_(device) { device_.BeginKernel(); }
  ~KernelScope() { device_.EndKernel(); }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  Device& device_;
};

}  // namespace moka
