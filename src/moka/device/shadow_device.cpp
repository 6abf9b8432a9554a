#include "moka/device/shadow_device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "moka/base/error.hpp"

namespace moka {
namespace {

/// Whole pages, so that access can be forbidden; the array ends at the end of its last page, so
/// that running over it is caught as well.
class PageSet {
 public:
  void* Allocate(size_t bytes, int protection) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t body = (bytes + page - 1) / page * page + (bytes == 0 ? page : 0);
    void* start = mmap(nullptr, body + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(start != MAP_FAILED, "shadow device: no ", bytes, " bytes left");
    mprotect(start, body, protection);
    // Vector loads need 64-byte alignment at most; the guard page begins within that distance.
    const size_t offset = (body - bytes) / 64 * 64;
    void* memory = static_cast<char*>(start) + offset;
    pages_[memory] = {start, body, page};
    return memory;
  }

  void Free(void* memory) {
    const auto found = pages_.find(memory);
    munmap(found->second.start, found->second.body + found->second.guard);
    pages_.erase(found);
  }

  void Protect(int protection) {
    for (const auto& entry : pages_) mprotect(entry.second.start, entry.second.body, protection);
  }

 private:
  struct Pages {
    void* start;
    size_t body;
    size_t guard;
  };
  std::map<void*, Pages> pages_;
};

/// See Device. Outside kernels the device's pages are closed and the host's open; during a kernel
/// it is the other way round.
class ShadowDevice : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::kShadow; }
  std::string name() const override { return "shadow"; }

  void* Allocate(size_t bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return device_pages_.Allocate(bytes, kernels_ > 0 ? kOpen : PROT_NONE);
  }
  void Free(void* memory) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    device_pages_.Free(memory);
  }
  void* AllocateHost(size_t bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return host_pages_.Allocate(bytes, kernels_ > 0 ? PROT_NONE : kOpen);
  }
  void FreeHost(void* memory) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    host_pages_.Free(memory);
  }

  void Upload(void* to_device, const void* from_host, size_t bytes, void*) override {
    CopyOpen(to_device, from_host, bytes);
  }
  void Download(void* to_host, const void* from_device, size_t bytes, void*) override {
    CopyOpen(to_host, from_device, bytes);
  }

  void BeginKernel() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kernels_++ > 0) return;
    host_pages_.Protect(PROT_NONE);
    device_pages_.Protect(kOpen);
  }
  void EndKernel() noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--kernels_ > 0) return;
    device_pages_.Protect(PROT_NONE);
    host_pages_.Protect(kOpen);
  }

 private:
  static constexpr int kOpen = PROT_READ | PROT_WRITE;

  void CopyOpen(void* to, const void* from, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    device_pages_.Protect(kOpen);
    std::memcpy(to, from, bytes);
    device_pages_.Protect(PROT_NONE);
  }

  std::mutex mutex_;
  int kernels_ = 0;
  PageSet device_pages_;
  PageSet host_pages_;
};

}  // namespace

std::shared_ptr<Device> MakeShadowDevice() { return std::make_shared<ShadowDevice>(); }

}  // namespace moka
