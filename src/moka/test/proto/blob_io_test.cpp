#include "moka/proto/blob_io.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "moka/base/error.hpp"

namespace moka {
namespace {

using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;

BlobProto BlobOf(const Shape& shape, const Floats& data) {
  BlobProto blob;
  for (int64_t size : shape) blob.mutable_shape()->add_dim(size);
  for (float value : data) blob.add_data(value);
  return blob;
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string ErrorOf(const BlobProto& blob) {
  try {
    FromBlobProto(blob);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(BlobIo, StoredBlobIsReadBack) {
  const FloatArray array{{2, 3}, {1, 2, 3, 4, 5, -6.5f}};
  BlobProto blob;
  blob.set_num(7);  // what stood there before must go
  ToBlobProto(array, &blob);
  EXPECT_FALSE(blob.has_num());
  EXPECT_EQ(FromBlobProto(blob).shape, array.shape);
  EXPECT_EQ(FromBlobProto(blob).data, array.data);
}

TEST(BlobIo, OldShapeFieldsGiveFourAxes) {
  BlobProto blob = BlobOf({}, {1, 2, 3, 4});
  blob.set_channels(2);
  blob.set_num(1);
  blob.set_height(2);
  blob.set_width(1);
  EXPECT_EQ(FromBlobProto(blob).shape, (Shape{1, 2, 2, 1}));
}

TEST(BlobIo, DoublesAreReadAsFloats) {
  BlobProto blob = BlobOf({2}, {});
  blob.add_double_data(0.1);
  blob.add_double_data(-1e300);
  EXPECT_EQ(FromBlobProto(blob).data, (Floats{0.1f, -INFINITY}));
}

TEST(BlobIo, RawDataOfEveryPrecisionIsRead) {
  BlobProto blob = BlobOf({3}, {});
  blob.set_raw_data_type(FLOAT16);
  blob.set_raw_data(BytesOf<uint16_t>({0x3C00, 0xC000, 0x3555}));  // 1, -2, nearest to 1/3
  EXPECT_EQ(FromBlobProto(blob).data, (Floats{1, -2, 0.333251953125f}));
  blob.set_raw_data_type(FLOAT);
  blob.set_raw_data(BytesOf<float>({1.5f, -2, 1e-30f}));
  EXPECT_EQ(FromBlobProto(blob).data, (Floats{1.5f, -2, 1e-30f}));
  blob.set_raw_data_type(DOUBLE);
  blob.set_raw_data(BytesOf<double>({0.1, 2, 3}));
  EXPECT_EQ(FromBlobProto(blob).data, (Floats{0.1f, 2, 3}));
}

TEST(BlobIo, RawDataThatCannotBeReadIsAnError) {
  BlobProto blob = BlobOf({3}, {});
  blob.set_raw_data_type(FLOAT);
  blob.set_raw_data("12345");
  EXPECT_EQ(ErrorOf(blob), "has 5 bytes of raw data, not a multiple of 4");
  blob.set_raw_data_type(INT);
  EXPECT_EQ(ErrorOf(blob), "has raw data of type INT; only FLOAT16, FLOAT and DOUBLE can be read");
}

TEST(BlobIo, ScalarHasOneValueAndGapHasNone) {
  EXPECT_FALSE(FromBlobProto(BlobOf({}, {3})).IsMissing());
  BlobProto scalar = BlobOf({}, {3});
  scalar.mutable_shape();
  EXPECT_EQ(FromBlobProto(scalar).data, Floats{3});
  EXPECT_TRUE(FloatArray().IsMissing());
  EXPECT_EQ(FromBlobProto(BlobOf({0, 4}, {})).shape, (Shape{0, 4}));
}

TEST(BlobIo, ShapeAndCountMustAgree) {
  EXPECT_EQ(ErrorOf(BlobOf({2, 5}, Floats(9))), "has 9 values, but its shape 2 x 5 means 10");
  EXPECT_EQ(ErrorOf(BlobOf({}, Floats(10))), "has 10 values but no shape");
  EXPECT_EQ(ErrorOf(BlobProto()), "has 0 values but no shape");
  EXPECT_EQ(ErrorOf(BlobOf({-1, 5}, Floats(5))), "the shape -1 x 5 has a negative size");
  EXPECT_EQ(ErrorOf(BlobOf({1 << 30, 1 << 30, 1 << 30}, {})),
            "the shape 1073741824 x 1073741824 x 1073741824 has more than 2^63 - 1 values");
}

/// The value of a half by its definition: (-1)^s * 2^(e-15) * (1 + m/1024), and without the
/// leading 1 at the smallest exponent.
double HalfByFormula(int bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(BlobIo, EveryHalfIsConvertedExactly) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float value = HalfToFloat(static_cast<uint16_t>(bits));
    const double right = HalfByFormula(bits);
    if (std::isnan(right)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(value, right) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(right)) << bits;
    }
  }
}

}  // namespace
}  // namespace moka
