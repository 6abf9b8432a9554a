#pragma once

#include <cstdint>
#include <cstring>

#include "moka/base/host_device.hpp"

namespace moka {

/// Exponential functions that compilers can vectorise, which they cannot with those of libm; the
/// same arithmetic on every device. Within 2 units in the last place.

/// e^x; infinity from 88.73 on, denormal below -87.34 and 0 from -104 on.
MOKA_HD float VectorExp(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  constexpr float kRound = 12582912.0f;
  const float rounded = x * 1.44269504089f + kRound;
  const float n = rounded - kRound;
  // The remainder to n * log(2), in two pieces so that nothing is lost (Cody and Waite).
  float r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;  // Cephes' minimax polynomial for [-log(2)/2, log(2)/2]
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  const int32_t exponent = bits - 0x4B400000;
  // 2^n as a product of two, which reaches infinity and the denormals.
  const int32_t half = exponent >> 1;
  const int32_t low_bits = (half + 127) << 23, high_bits = (exponent - half + 127) << 23;
  float low, high;
  memcpy(&low, &low_bits, sizeof low);
  memcpy(&high, &high_bits, sizeof high);
  return p * low * high;
}

/// 1 / (1 + e^-x).
MOKA_HD float VectorSigmoid(float x) { return 1.0f / (1.0f + VectorExp(-x)); }

MOKA_HD float VectorTanh(float x) {
  const float magnitude = x < 0 ? -x : x;
  const float far = 1.0f - 2.0f / (VectorExp(2.0f * magnitude) + 1.0f);
  // Near 0 that difference would lose digits.
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  return magnitude < 0.625f ? near : (x < 0 ? -far : far);
}

}  // namespace moka
