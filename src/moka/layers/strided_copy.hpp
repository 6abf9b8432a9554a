#pragma once

#include <cstdint>
#include <vector>

#include "moka/device/context.hpp"
#include "moka/tensor/shape.hpp"

namespace moka {

/// A regular part of an array, element by element in the order of `shape`: element (i, j, ...) lies
/// at offset + i * strides[0] + j * strides[1] + ... Strides count values.
struct StridedPart {
  Shape shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

/// The distance of neighbours along each axis of a row-major array.
std::vector<int64_t> StridesOf(const Shape& shape);

/// Copies the part out of `from` into a tight array. Throws for more than 32 axes.
void CopyFromPart(Context& context, const StridedPart& part, const float* from, float* to);

/// Copies a tight array into the part of `to`; the rest of `to` stays.
void CopyIntoPart(Context& context, const StridedPart& part, const float* from, float* to);

}  // namespace moka
