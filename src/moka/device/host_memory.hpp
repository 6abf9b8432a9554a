#pragma once

#include <cstddef>

namespace moka {

/// Host memory aligned to 64 bytes (a cache line and the widest vector register).
/// Throws Error with the size when there is not enough.
void* AllocateAligned(size_t bytes);
void FreeAligned(void* memory) noexcept;

}  // namespace moka
