#include "moka/tensor/storage.hpp"

#include <algorithm>
#include <cstring>

#include "moka/base/error.hpp"
#include "moka/device/math.hpp"

namespace moka {
namespace {

/// The device whose memory a context works on; null for the CPU, whose memory is the host's.
std::shared_ptr<Device> DeviceOf(const Context* context) {
  if (context == nullptr || context->kind() == DeviceKind::kCpu) return nullptr;
  return context->shared_device();
}

/// For host work that comes without a context.
Context& HostContext() {
  thread_local Context context("cpu", 1);
  return context;
}

}  // namespace

Storage::CopyOf& Storage::Find(Context* context, const LayoutPtr& layout) {
  const std::shared_ptr<Device> device = DeviceOf(context);
  for (const auto& copy : copies_) {
    if (copy->device != device) continue;
    const bool same_layout = layout == nullptr
                                 ? copy->layout == nullptr
                                 : copy->layout != nullptr && copy->layout->Equals(*layout);
    if (same_layout) return *copy;
  }
  copies_.push_back(std::make_unique<CopyOf>());
  copies_.back()->device = device;
  copies_.back()->layout = layout;
  return *copies_.back();
}

Storage::CopyOf* Storage::FindValid(bool on_device, bool plain) {
  for (const auto& copy : copies_) {
    const bool fits = (copy->device != nullptr) == on_device && (copy->layout == nullptr) == plain;
    if (copy->valid && fits) return copy.get();
  }
  return nullptr;
}

void Storage::Reserve(Context* context, CopyOf* copy) {
  const size_t bytes = copy->layout == nullptr ? bytes_ : copy->layout->bytes();
  Context& owner = context == nullptr ? HostContext() : *context;
  copy->stream = owner.stream();
  if (copy->memory.data() != nullptr && copy->memory.bytes() >= bytes) return;
  copy->memory = Memory();  // freed before the larger piece is asked for
  copy->memory = Memory(owner.shared_device(), bytes);
}

void* Storage::Read(Context* context, const LayoutPtr& layout) {
  Require(content_ != Content::kNothing, "blob \"", name, "\" is read before anything wrote it");
  CopyOf& copy = Find(context, layout);
  if (!copy.valid) Bring(context, &copy);
  return copy.memory.data();
}

void* Storage::Write(Context* context, const LayoutPtr& layout) {
  CopyOf& copy = Find(context, layout);
  Reserve(context, &copy);
  KeepOnly(&copy);
  return copy.memory.data();
}

void* Storage::ReadWrite(Context* context) {
  void* memory = Read(context, nullptr);
  KeepOnly(&Find(context, nullptr));
  return memory;
}

void Storage::KeepOnly(CopyOf* copy) {
  for (const auto& other : copies_) other->valid = false;
  copy->valid = true;
  content_ = Content::kWritten;
}

void Storage::SetZero() {
  for (const auto& copy : copies_) copy->valid = false;
  content_ = Content::kZero;
}

void Storage::Reset(int64_t count) {
  bytes_ = static_cast<size_t>(count) * sizeof(float);
  content_ = Content::kNothing;
  // Foreign copies are of another size; plain ones may be large enough.
  copies_.erase(std::remove_if(copies_.begin(), copies_.end(),
                               [](const auto& copy) { return copy->layout != nullptr; }),
                copies_.end());
  for (const auto& copy : copies_) copy->valid = false;
}

/// Makes a copy valid from another one: a foreign copy from the plain one beside it; a plain one
/// from zeros, from a foreign one beside it, or by way of the host.
void Storage::Bring(Context* context, CopyOf* to) {
  Context& here = context == nullptr ? HostContext() : *context;
  if (to->layout != nullptr) {
    if (BringFromForeign(here, to)) return;
    const auto* plain = static_cast<const float*>(Read(context, nullptr));
    Reserve(context, to);
    to->layout->FromPlain(here, plain, to->memory.data());
  } else if (content_ == Content::kZero) {
    Reserve(context, to);
    Fill(here, static_cast<int64_t>(bytes_ / sizeof(float)), 0.0f,
         static_cast<float*>(to->memory.data()));
    content_ = Content::kWritten;
  } else if (to->device == nullptr) {
    BringToHost(to);
  } else {
    Reserve(context, to);
    CopyOf* foreign = FindValid(true, false);
    if (foreign != nullptr && foreign->device == to->device) {
      foreign->layout->ToPlain(here, foreign->memory.data(),
                               static_cast<float*>(to->memory.data()));
    } else {
      MoveHostCopyTo(to->device);
      here.device().Upload(to->memory.data(), Read(nullptr, nullptr), bytes_, here.stream());
    }
  }
  to->valid = true;
}

bool Storage::BringFromForeign(Context& context, CopyOf* to) {
  for (const auto& from : copies_) {
    if (!from->valid || from->layout == nullptr || from->device != to->device) continue;
    Reserve(&context, to);
    to->valid =
        to->layout->FromForeign(context, *from->layout, from->memory.data(), to->memory.data());
    if (to->valid) return true;
  }
  return false;
}

void Storage::BringToHost(CopyOf* to) {
  if (CopyOf* foreign = FindValid(false, false)) {
    Reserve(nullptr, to);
    foreign->layout->ToPlain(HostContext(), foreign->memory.data(),
                             static_cast<float*>(to->memory.data()));
    return;
  }
  if (FindValid(true, true) == nullptr) {
    // Only a foreign copy on a device: converted there before it can be copied.
    CopyOf* foreign = FindValid(true, false);
    foreign->device->Synchronize(foreign->stream);
    Context there(foreign->device, 1);
    Read(&there, nullptr);
    there.Synchronize();
  }
  CopyOf* plain = FindValid(true, true);
  if (to->memory.bytes() < bytes_ || to->memory.data() == nullptr) {
    to->memory = Memory(plain->device, bytes_, Memory::Side::kHost);
  }
  plain->device->Download(to->memory.data(), plain->memory.data(), bytes_, plain->stream);
}

/// A device may want the host's copies in memory of its own kind (the shadow device closes it while
/// kernels run), so the host's copy moves there before the first upload.
void Storage::MoveHostCopyTo(const std::shared_ptr<Device>& device) {
  const void* content = Read(nullptr, nullptr);
  CopyOf& host = Find(nullptr, nullptr);
  if (host.memory.device() == device) return;
  Memory moved(device, bytes_, Memory::Side::kHost);
  std::memcpy(moved.data(), content, bytes_);
  host.memory = std::move(moved);
}

Storage::LayoutPtr Storage::ForeignLayout(const Context& context) const {
  for (const auto& copy : copies_) {
    if (copy->valid && copy->device == DeviceOf(&context) && copy->layout != nullptr) {
      return copy->layout;
    }
  }
  return nullptr;
}

size_t Storage::allocated_bytes() const {
  size_t total = 0;
  for (const auto& copy : copies_) total += copy->memory.bytes();
  return total;
}

}  // namespace moka
