#include "moka/device/cpu_device.hpp"

#include <cstdlib>
#include <cstring>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/device/host_memory.hpp"

namespace moka {
namespace {

constexpr size_t kAlignment = 64;

/// Everything is host memory, so nothing needs to be copied or synchronised.
class CpuDevice : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  std::string name() const override { return "cpu"; }
  void* Allocate(size_t bytes) override { return AllocateAligned(bytes); }
  void Free(void* memory) noexcept override { FreeAligned(memory); }
  void* AllocateHost(size_t bytes) override { return AllocateAligned(bytes); }
  void FreeHost(void* memory) noexcept override { FreeAligned(memory); }
  void Upload(void* to, const void* from, size_t bytes, void*) override {
    std::memcpy(to, from, bytes);
  }
  void Download(void* to, const void* from, size_t bytes, void*) override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

void* AllocateAligned(size_t bytes) {
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
  if (memory == nullptr) {
    throw Error("out of memory: " + HumanBytes(static_cast<double>(bytes)) + " more were needed")
        .Hint("lower batch_size (iter_size keeps the effective batch)");
  }
  return memory;
}

void FreeAligned(void* memory) noexcept { std::free(memory); }

std::shared_ptr<Device> MakeCpuDevice() { return std::make_shared<CpuDevice>(); }

}  // namespace moka
