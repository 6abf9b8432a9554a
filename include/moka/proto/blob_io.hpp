#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "moka/proto/moka.pb.h"

namespace moka {

/// Numbers and the shape they have, as files hold them.
struct FloatArray {
  std::vector<int64_t> shape;
  std::vector<float> data;

  /// True for a gap: a blob that its file left out (HDF5 files leave out parameters that share
  /// another layer's). A scalar is no gap: it has one number.
  bool IsMissing() const { return shape.empty() && data.empty(); }
};

/// The product of the sizes. Throws when one is negative or the product exceeds 63 bits.
int64_t CountOf(const std::vector<int64_t>& shape);

/// The shape of a stored blob: `shape`, or the four old fields num, channels, height, width.
std::vector<int64_t> ShapeOf(const BlobProto& blob);

/// Reads a stored blob of any age: float `data`, `double_data`, or `raw_data` (NVIDIA's fork, 16,
/// 32 or 64-bit floating point). Throws when the shape and the number of values disagree. Values
/// without any shape are accepted only if there is just one: a scalar.
FloatArray FromBlobProto(const BlobProto& blob);

/// Stores CountOf(shape) numbers the way Caffe reads them: `shape` and packed `data`. What `blob`
/// held before is dropped.
void ToBlobProto(const std::vector<int64_t>& shape, const float* data, BlobProto* blob);
void ToBlobProto(const FloatArray& array, BlobProto* blob);

/// The number whose IEEE 754 half-precision bits are given; exact, infinities and NaN included.
float HalfToFloat(uint16_t bits);

}  // namespace moka
