#include "moka/proto/blob_io.hpp"

#include <cstring>
#include <limits>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

/// Raw values of type Stored in the machine's (little-endian) order, as floats.
template <typename Stored, typename Convert>
std::vector<float> FromRaw(const std::string& raw, const Convert& convert) {
  Require(raw.size() % sizeof(Stored) == 0, "has ", raw.size(),
          " bytes of raw data, not a multiple of ", sizeof(Stored));
  std::vector<float> values(raw.size() / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, raw.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert(stored);
  }
  return values;
}

std::vector<float> RawValues(const BlobProto& blob) {
  switch (blob.raw_data_type()) {
    case FLOAT16:
      return FromRaw<uint16_t>(blob.raw_data(), HalfToFloat);
    case FLOAT:
      return FromRaw<float>(blob.raw_data(), [](float value) { return value; });
    case DOUBLE:
      return FromRaw<double>(blob.raw_data(), [](double x) { return static_cast<float>(x); });
    default:
      Fail("has raw data of type ", Type_Name(blob.raw_data_type()),
           "; only FLOAT16, FLOAT and DOUBLE can be read");
  }
}

std::vector<float> Values(const BlobProto& blob) {
  if (blob.data_size() > 0) return {blob.data().begin(), blob.data().end()};
  if (blob.double_data_size() > 0) return {blob.double_data().begin(), blob.double_data().end()};
  if (!blob.raw_data().empty()) return RawValues(blob);
  return {};
}

bool HasOldShape(const BlobProto& blob) {
  return blob.has_num() || blob.has_channels() || blob.has_height() || blob.has_width();
}

}  // namespace

int64_t CountOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    Require(size >= 0, "the shape ", Join(shape, " x "), " has a negative size");
    Require(size == 0 || count <= std::numeric_limits<int64_t>::max() / size, "the shape ",
            Join(shape, " x "), " has more than 2^63 - 1 values");
    count *= size;
  }
  return count;
}

std::vector<int64_t> ShapeOf(const BlobProto& blob) {
  if (HasOldShape(blob)) return {blob.num(), blob.channels(), blob.height(), blob.width()};
  return {blob.shape().dim().begin(), blob.shape().dim().end()};
}

FloatArray FromBlobProto(const BlobProto& blob) {
  FloatArray array{ShapeOf(blob), Values(blob)};
  const auto held = static_cast<int64_t>(array.data.size());
  if (CountOf(array.shape) == held) return array;
  Require(blob.has_shape() || HasOldShape(blob), "has ", held, " values but no shape");
  Fail("has ", held, " values, but its shape ", Join(array.shape, " x "), " means ",
       CountOf(array.shape));
}

void ToBlobProto(const std::vector<int64_t>& shape, const float* data, BlobProto* blob) {
  blob->Clear();
  blob->mutable_shape()->mutable_dim()->Add(shape.begin(), shape.end());
  blob->mutable_data()->Add(data, data + CountOf(shape));
}

void ToBlobProto(const FloatArray& array, BlobProto* blob) {
  ToBlobProto(array.shape, array.data.data(), blob);
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu, mantissa = bits & 0x3FFu;
  uint32_t result;
  if (exponent == 0) {
    // Zero and subnormals are multiples of 2^-24, which a float holds exactly.
    const float magnitude = static_cast<float>(mantissa) * (1.0f / 16777216.0f);
    std::memcpy(&result, &magnitude, sizeof(result));
  } else if (exponent == 0x1F) {
    result = 0x7F800000u | (mantissa << 13);
  } else {
    result = ((exponent + (127 - 15)) << 23) | (mantissa << 13);
  }
  result |= sign;
  float value;
  std::memcpy(&value, &result, sizeof(value));
  return value;
}

}  // namespace moka
