#include "moka/base/strings.hpp"

#include <gtest/gtest.h>

#include "moka/base/crc32.hpp"

namespace moka {
namespace {

TEST(Strings, NearestNameSuggestsOnlyWhatIsNear) {
  const std::vector<std::string> names = {"kernel_size", "num_output", "stride", "pad"};
  EXPECT_EQ(NearestName("kernal_size", names), "kernel_size");
  EXPECT_EQ(NearestName("NumOutput", names), "num_output");
  EXPECT_EQ(NearestName("strdie", names), "stride");
  EXPECT_EQ(NearestName("bogus_field", names), "");
  EXPECT_EQ(NearestName("foo", {"top", "bottom"}), "");
  EXPECT_EQ(DidYouMean("paf", names), " (did you mean \"pad\"?)");
}

TEST(Strings, SplitTrimAndUnits) {
  EXPECT_EQ(Split("a,b,,c", ',').size(), 4u);
  EXPECT_TRUE(Split("", ',').empty());
  EXPECT_EQ(Trim(" \t x y\r\n"), "x y");
  EXPECT_EQ(HumanBytes(1536), "1.5 KB");
  EXPECT_EQ(Grouped(431080), "431,080");
  EXPECT_EQ(Grouped(-1234567), "-1,234,567");
  EXPECT_EQ(Grouped(-123), "-123");
  EXPECT_EQ(HumanSeconds(75), "1:15");
  EXPECT_EQ(HumanSeconds(3725), "1:02:05");
}

// The check value that every description of CRC-32 gives.
TEST(Crc32, OfTheNineDigits) {
  EXPECT_EQ(Crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(Crc32("6789", 4, Crc32("12345", 5)), 0xCBF43926u);
}

}  // namespace
}  // namespace moka
