#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "moka/base/host_device.hpp"

namespace moka {

/// Random numbers as a function: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011). The same (key, counter) gives the same numbers on every device, whatever
/// the number of threads, so nothing has to be saved to resume.
///
/// The key is (seed, who asks); the counter is (iteration or epoch, element).
struct Philox {
  uint32_t key[2];

  /// A generator for one asker (a layer's or reader's number, see `StreamOf`) under a seed.
  static MOKA_HD Philox For(uint64_t seed, uint64_t asker) {
    const uint64_t mixed = seed * 0x9E3779B97F4A7C15ull + asker * 0xD1B54A32D192ED03ull + 1;
    const uint64_t folded = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9ull;
    return {{static_cast<uint32_t>(folded), static_cast<uint32_t>(folded >> 32)}};
  }

  struct Block {
    uint32_t word[4];
  };

  /// Four independent 32-bit words for the counter (high, low).
  MOKA_HD Block operator()(uint64_t high, uint64_t low) const {
    uint32_t c0 = static_cast<uint32_t>(low), c1 = static_cast<uint32_t>(low >> 32);
    uint32_t c2 = static_cast<uint32_t>(high), c3 = static_cast<uint32_t>(high >> 32);
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t product0 = static_cast<uint64_t>(0xD2511F53u) * c0;
      const uint64_t product1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
      const uint32_t n0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<uint32_t>(product1);
      c3 = static_cast<uint32_t>(product0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
  }

  /// One 32-bit word for element `index` at `iteration`.
  MOKA_HD uint32_t Word(uint64_t iteration, uint64_t index) const {
    return (*this)(iteration, index).word[0];
  }

  /// Uniform in [0, 1) with 24 random bits.
  MOKA_HD float Uniform(uint64_t iteration, uint64_t index) const {
    return static_cast<float>(Word(iteration, index) >> 8) * (1.0f / 16777216.0f);
  }

  /// Standard normal (Box-Muller).
  MOKA_HD float Gaussian(uint64_t iteration, uint64_t index) const {
    const Block block = (*this)(iteration, index);
    const float u = (static_cast<float>(block.word[0] >> 8) + 1.0f) * (1.0f / 16777216.0f);
    const float v = static_cast<float>(block.word[1] >> 8) * (1.0f / 16777216.0f);
    return sqrtf(-2.0f * logf(u)) * cosf(6.283185307179586f * v);
  }

  /// Uniform in [0, n), n >= 1, without modulo bias worth speaking of (n < 2^32).
  MOKA_HD uint32_t Below(uint32_t n, uint64_t iteration, uint64_t index) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(Word(iteration, index)) * n) >> 32);
  }
};

/// A stable number for a name, to serve as the asker of a Philox key (FNV-1a, 64 bits).
inline uint64_t StreamOf(const std::string& name) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001B3ull;
  return hash;
}

}  // namespace moka
