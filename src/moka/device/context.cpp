#include "moka/device/context.hpp"

#include <sched.h>

#include <fstream>
#include <map>
#include <set>

#include "moka/base/error.hpp"

namespace moka {

struct Context::Handles {
  std::map<std::string, std::shared_ptr<void>> by_library;
};

Context::Context(std::shared_ptr<Device> device, int threads)
    : device_(std::move(device)),
      threads_(threads > 0 ? threads : PhysicalCores()),
      stream_(device_->CreateStream()),
      handles_(std::make_unique<Handles>()) {}

Context::Context(const std::string& device, int threads) : Context(MakeDevice(device), threads) {}

Context Context::Worker(const Context& parent) { return Context(parent.device_, 1); }

Context::Context(Context&& other) noexcept = default;

Context::~Context() {
  // Handles may still use the stream while they are destroyed.
  handles_.reset();
  if (device_ != nullptr) device_->DestroyStream(stream_);
}

void* Context::Handle(const std::string& library, std::shared_ptr<void> (*make)(Context&)) {
  std::shared_ptr<void>& handle = handles_->by_library[library];
  if (handle == nullptr) handle = make(*this);
  return handle.get();
}

float* Context::Scratch(int64_t count) {
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  if (scratch_.bytes() < bytes) {
    scratch_ = Memory();  // freed before the larger piece is asked for
    scratch_ = Memory(device_, bytes);
  }
  return static_cast<float*>(scratch_.data());
}

int PhysicalCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream siblings("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                           "/topology/thread_siblings_list");
    std::string list;
    // Without a topology every processor counts as a core.
    cores.insert(std::getline(siblings, list) ? list : std::to_string(cpu));
  }
  return cores.empty() ? 1 : static_cast<int>(cores.size());
}

}  // namespace moka
