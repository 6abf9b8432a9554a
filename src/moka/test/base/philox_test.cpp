#include "moka/base/philox.hpp"

#include <gtest/gtest.h>

namespace moka {
namespace {

// Known answers of Philox4x32-10 published with Random123 (kat_vectors).
TEST(Philox, GivesThePublishedKnownAnswers) {
  const Philox zero{{0, 0}};
  const Philox::Block a = zero(0, 0);
  EXPECT_EQ(a.word[0], 0x6627e8d5u);
  EXPECT_EQ(a.word[1], 0xe169c58du);
  EXPECT_EQ(a.word[2], 0xbc57ac4cu);
  EXPECT_EQ(a.word[3], 0x9b00dbd8u);
  const Philox ones{{0xffffffffu, 0xffffffffu}};
  const Philox::Block b = ones(~0ull, ~0ull);
  EXPECT_EQ(b.word[0], 0x408f276du);
  EXPECT_EQ(b.word[1], 0x41c83b0eu);
  EXPECT_EQ(b.word[2], 0xa20bc7c6u);
  EXPECT_EQ(b.word[3], 0x6d5451fdu);
}

TEST(Philox, UniformAndGaussianHaveTheirMoments) {
  const Philox philox = Philox::For(1, StreamOf("drop6"));
  const int n = 200000;
  double uniform = 0, gaussian = 0, square = 0;
  for (int i = 0; i < n; ++i) {
    const float u = philox.Uniform(3, i), g = philox.Gaussian(4, i);
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform += u;
    gaussian += g;
    square += g * g;
  }
  EXPECT_NEAR(uniform / n, 0.5, 0.003);
  EXPECT_NEAR(gaussian / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.015);
}

TEST(Philox, AskersAndSeedsDiffer) {
  EXPECT_NE(Philox::For(1, 1).Word(0, 0), Philox::For(2, 1).Word(0, 0));
  EXPECT_NE(Philox::For(1, 1).Word(0, 0), Philox::For(1, 2).Word(0, 0));
  EXPECT_NE(Philox::For(0, 1).Word(0, 0), Philox::For(0, 2).Word(0, 0));
}

}  // namespace
}  // namespace moka
