#pragma once

#include <cstddef>
#include <cstdint>

namespace moka {

/// CRC-32 (IEEE 802.3) of `size` bytes, continuing from `crc` (0 to begin).
uint32_t Crc32(const void* data, size_t size, uint32_t crc = 0);

}  // namespace moka
