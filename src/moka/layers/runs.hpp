#pragma once

#include <cstdint>
#include <cstring>

#include "moka/base/host_device.hpp"

namespace moka {

// Loops over the short runs of values that windows over images are made of. A run is often shorter
// than a call of memcpy or memset takes, which the compiler would make of plain loops; these go in
// steps of a vector (memcpy of a fixed size is no call) and end in a step that overlaps or is
// unrolled.

constexpr int64_t kRunStep = 8;
constexpr size_t kRunStepBytes = kRunStep * sizeof(float);

template <int kStride>
MOKA_HD void CopyEvery(const float* from, int64_t count, float* __restrict__ to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * kStride];
}

/// to[i] = from[i * stride]; the two do not overlap.
MOKA_HD void CopyRun(const float* from, int64_t stride, int64_t count, float* to) {
  if (stride == 2) return CopyEvery<2>(from, count, to);
  if (stride == 4) return CopyEvery<4>(from, count, to);
  if (stride != 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
    return;
  }
  if (count < kRunStep) {
    for (int64_t k = 0; k < kRunStep - 1; ++k) {
      if (k >= count) break;
      to[k] = from[k];
    }
    return;
  }
  for (int64_t i = 0; i + kRunStep <= count; i += kRunStep) {
    memcpy(to + i, from + i, kRunStepBytes);
  }
  memcpy(to + count - kRunStep, from + count - kRunStep, kRunStepBytes);
}

template <int kStride>
MOKA_HD void AddEvery(const float* from, float weight, int64_t count, float* __restrict__ to) {
  for (int64_t i = 0; i < count; ++i) to[i] += weight * from[i * kStride];
}

/// to[i] += weight * from[i * stride]; the two do not overlap.
MOKA_HD void GatherRun(const float* from, float weight, int64_t stride, int64_t count, float* to) {
  if (stride == 1) return AddEvery<1>(from, weight, count, to);
  if (stride == 2) return AddEvery<2>(from, weight, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] += weight * from[i * stride];
}

/// to[i] = 0.
MOKA_HD void ZeroRun(int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kRunStep <= count; i += kRunStep) memset(to + i, 0, kRunStepBytes);
  for (int64_t k = 0; k < kRunStep - 1; ++k) {
    if (i + k >= count) break;
    to[i + k] = 0.0f;
  }
}

/// to[i * stride] += weight * from[i].
MOKA_HD void AddRun(const float* from, float weight, int64_t stride, int64_t count, float* to) {
  if (stride != 1) {
    for (int64_t i = 0; i < count; ++i) to[i * stride] += weight * from[i];
    return;
  }
  int64_t i = 0;
  for (; i + kRunStep <= count; i += kRunStep) {
    float sum[kRunStep], more[kRunStep];
    memcpy(sum, to + i, kRunStepBytes);
    memcpy(more, from + i, kRunStepBytes);
    for (int64_t k = 0; k < kRunStep; ++k) sum[k] += weight * more[k];
    memcpy(to + i, sum, kRunStepBytes);
  }
  for (int64_t k = 0; k < kRunStep - 1; ++k) {
    if (i + k >= count) break;
    to[i + k] += weight * from[i + k];
  }
}

}  // namespace moka
