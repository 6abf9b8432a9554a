#include <gtest/gtest.h>

#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

/// Reads a text with one mistake; whether it was read as it was meant.
bool Guessed(const std::string& text, NetParameter* net) {
  const std::vector<TextProblem> problems = ParseText(text, "net", {}, net);
  EXPECT_EQ(1u, problems.size()) << text;
  return problems.size() == 1 && problems[0].guessed;
}

TEST(TextGuess, AMisspeltFieldIsReadAsTheNearest) {
  NetParameter net;
  EXPECT_TRUE(Guessed("layer { convolution_param { kernal_size: 5 num_output: 2 } }", &net));
  EXPECT_EQ(5u, net.layer(0).convolution_param().kernel_size(0));
  EXPECT_EQ(2u, net.layer(0).convolution_param().num_output());
  EXPECT_TRUE(Guessed("layer { poling_param { kernel_size: 3 } }", &net));
  EXPECT_EQ(3u, net.layer(0).pooling_param().kernel_size());
}

TEST(TextGuess, AMisspeltFieldIsNoGuessWhereItsValueDoesNotFitOrItIsGivenTwice) {
  NetParameter net;
  EXPECT_FALSE(Guessed("layer { poling_param: 3 }", &net));
  EXPECT_FALSE(Guessed("nane { x: 3 }", &net));
  EXPECT_FALSE(Guessed("name: \"a\" nane: \"b\"", &net));
  EXPECT_EQ("a", net.name());
}

TEST(TextGuess, AMisspeltValueIsReadAsTheNearest) {
  NetParameter net;
  EXPECT_TRUE(Guessed("layer { pooling_param { pool: Avg } }", &net));
  EXPECT_EQ(PoolingParameter::AVE, net.layer(0).pooling_param().pool());
  EXPECT_FALSE(Guessed("layer { pooling_param { pool: BOGUS } }", &net));
}

TEST(TextGuess, QuotesTooManyOrTooFewAreReadAsMeant) {
  NetParameter net;
  EXPECT_TRUE(Guessed("layer { convolution_param { num_output: \"20\" } }", &net));
  EXPECT_EQ(20u, net.layer(0).convolution_param().num_output());
  EXPECT_TRUE(Guessed("layer { power_param { scale: '0.5' } }", &net));
  EXPECT_EQ(0.5f, net.layer(0).power_param().scale());
  EXPECT_TRUE(Guessed("layer { type: ReLU }", &net));
  EXPECT_EQ("ReLU", net.layer(0).type());
  for (const char* text : {"layer { convolution_param { num_output: \"2.5\" } }",
                           "layer { convolution_param { num_output: \"-2\" } }",
                           "layer { convolution_param { num_output: \"two\" } }",
                           "layer { convolution_param { num_output: \"\" } }"}) {
    EXPECT_FALSE(Guessed(text, &net)) << text;
  }
}

TEST(TextGuess, LenientReadingGuessesNothing) {
  TextOptions lenient;
  lenient.lenient = true;
  NetParameter net;
  ParseText("nane: \"x\" layer { pooling_param { pool: AVG } }", "net", lenient, &net);
  EXPECT_EQ("", net.name());
  EXPECT_FALSE(net.layer(0).pooling_param().has_pool());
}

}  // namespace
}  // namespace moka
