#include "moka/proto/text_reader.hpp"

#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/source.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// What is said of a net's text, a line each; warnings start with "warning: ".
std::string Said(const std::string& text, const TextOptions& options = {},
                 NetParameter* net = nullptr) {
  NetParameter scratch;
  std::vector<std::string> lines;
  for (const TextProblem& problem : ParseText(text, "net", options, net ? net : &scratch)) {
    lines.push_back((problem.warning ? "warning: " : "") + problem.ToString());
  }
  return Join(lines, "\n");
}

NetParameter Net(const std::string& text) {
  NetParameter net;
  EXPECT_EQ("", Said(text, {}, &net));
  return net;
}

TEST(TextReader, NamesTheNearestField) {
  EXPECT_EQ(
      "net:1:29: unknown field \"kernal_size\" in ConvolutionParameter (did you mean "
      "\"kernel_size\"?)",
      Said("layer { convolution_param { kernal_size: 5 } }"));
}

TEST(TextReader, SaysWhereAMisplacedFieldBelongs) {
  EXPECT_EQ(
      "net:1:9: unknown field \"dropout_ratio\" in LayerParameter; it is a field of dropout_param",
      Said("layer { dropout_ratio: 0.5 }"));
  EXPECT_EQ(
      "net:1:29: unknown field \"lr_mult\" in ConvolutionParameter; it is a field of param in "
      "LayerParameter",
      Said("layer { convolution_param { lr_mult: 1 } }"));
  EXPECT_EQ(
      "net:1:29: unknown field \"bottom\" in ConvolutionParameter; it is a field of "
      "LayerParameter: is a \"}\" missing before it?",
      Said("layer { convolution_param { bottom: \"x\" } }"));
  EXPECT_EQ("net:1:1: unknown field \"base_lr\" in NetParameter; it is a field of SolverParameter",
            Said("base_lr: 0.01"));
}

TEST(TextReader, AnUnknownFieldIsSkippedWhateverItsValue) {
  NetParameter net;
  EXPECT_EQ(
      "net:1:1: unknown field \"zzz\" in NetParameter\n"
      "net:2:1: unknown field \"zzz\" in NetParameter\n"
      "net:3:1: unknown field \"zzz\" in NetParameter\n"
      "net:4:1: unknown field \"zzz\" in NetParameter",
      Said("zzz: -1.5\n"
           "zzz { a: 1 b < c: [ { d: 'x}' } ] > }\n"
           "zzz: \"a\" 'b'\n"
           "zzz: [ 1, 2 ] name: \"kept\"",
           {}, &net));
  EXPECT_EQ("kept", net.name());
}

TEST(TextReader, NamesTheNearestValueAndAllValues) {
  EXPECT_EQ(
      "net:1:31: unknown value \"Avg\" of pool (did you mean \"AVE\"?); the values are MAX, AVE, "
      "STOCHASTIC, AVE_EXC_PAD, AVE_TF",
      Said("layer { pooling_param { pool: Avg } }"));
}

TEST(TextReader, ValuesOfEnumerationsMayBeNumbers) {
  const NetParameter net =
      Net("layer { pooling_param { pool: 1 } lrn_param { norm_region: 0x1 } }");
  EXPECT_EQ(PoolingParameter::AVE, net.layer(0).pooling_param().pool());
  EXPECT_EQ(LRNParameter::WITHIN_CHANNEL, net.layer(0).lrn_param().norm_region());
}

TEST(TextReader, LenientTurnsTheUnknownIntoWarnings) {
  TextOptions lenient;
  lenient.lenient = true;
  EXPECT_EQ("warning: net:1:1: unknown field \"zzz\" in NetParameter (ignored)",
            Said("zzz: 1", lenient));
  EXPECT_EQ(0u, Said("layer { pooling_param { pool: ODD } }", lenient).find("warning: net:1:31:"));
  EXPECT_EQ(0u, Said("layer { convolution_param { fuse_type: RELU } }", lenient).find("warning:"));
  EXPECT_EQ("net:1:7: name takes a string: abc must be in quotes", Said("name: abc", lenient));
}

TEST(TextReader, FieldsOfForksThatChangeNothingAreSkippedWithOneWarning) {
  NetParameter net;
  const std::string said = Said(
      "layer { quantization_param { bw_params: [ 1, 2 ] precision: DYNAMIC } }\n"
      "layer { quantization_param { zzz: -1 } name: 'b' }\n"
      "layer { name: 'c' quantization_param: 'x' 'y' top: 'd' }",
      {}, &net);
  EXPECT_EQ(0u, said.find("warning: net:1:9: \"quantization_param\"")) << said;
  EXPECT_EQ(std::string::npos, said.find('\n')) << said;
  EXPECT_EQ("b", net.layer(1).name());
  EXPECT_EQ("d", net.layer(2).top(0));
}

TEST(TextReader, FieldsOfForksThatChangeResultsAreRefused) {
  EXPECT_EQ(
      "net:1:21: \"fuse_type\", known from the OpenCL fork of Caffe, can change results and is not "
      "supported yet",
      Said("layer { lrn_param { fuse_type: FUSED_POOL_MAX } }"));
}

TEST(TextReader, AFieldThatNothingActsOnMattersOnlyWithAnotherValue) {
  SolverParameter solver;
  EXPECT_TRUE(ParseText("larc_turbo: false", "solver", {}, &solver).empty());
  const std::vector<TextProblem> problems = ParseText("\nlarc_turbo: true", "solver", {}, &solver);
  ASSERT_EQ(1u, problems.size());
  EXPECT_FALSE(problems[0].warning);
  EXPECT_EQ(2, problems[0].line);
}

TEST(TextReader, ASingularFieldIsGivenOnce) {
  EXPECT_EQ("net:2:26: \"name\" is given twice in this LayerParameter, first at net:1:9",
            Said("layer { name: 'a' top: 'a'\n"
                 "         top: 'b'        name: 'c' }"));
  EXPECT_EQ("net:1:24: \"relu_param\" is given twice in this LayerParameter, first at net:1:9",
            Said("layer { relu_param { } relu_param { negative_slope: 1 } name: 'kept' }"));
}

TEST(TextReader, WholeNumbersAreWholeAndInRange) {
  const NetParameter net = Net(
      "layer { softmax_param { axis: - 0x10 } convolution_param { num_output: 4294967295 pad: 010 "
      "} input_param { shape { dim: -9223372036854775808 dim: 9223372036854775807 } } }");
  EXPECT_EQ(-16, net.layer(0).softmax_param().axis());
  EXPECT_EQ(4294967295u, net.layer(0).convolution_param().num_output());
  EXPECT_EQ(8u, net.layer(0).convolution_param().pad(0));
  EXPECT_EQ(std::numeric_limits<int64_t>::min(), net.layer(0).input_param().shape(0).dim(0));
  EXPECT_EQ(std::numeric_limits<int64_t>::max(), net.layer(0).input_param().shape(0).dim(1));
  EXPECT_EQ(
      "net:1:33: 4294967296 is out of range: pad takes whole numbers from 0 to 4294967295\n"
      "net:2:6: pad takes a whole number of at least 0, not \"-\"\n"
      "net:3:7: pad takes a whole number of at least 0, not \"1.0\"\n"
      "net:4:24: -2147483649 is out of range: axis takes whole numbers from -2147483648 to "
      "2147483647\n"
      "net:5:6: 9223372036854775808 is out of range: dim takes whole numbers from "
      "-9223372036854775808 to 9223372036854775807",
      Said("layer { convolution_param {pad: 4294967296\n"
           "pad: -1\n"
           "pad : 1.0 }\n"
           "softmax_param { axis : -2147483649 } input_param { shape {\n"
           "dim: 9223372036854775808 } } }"));
}

TEST(TextReader, RealNumbersAreDecimal) {
  const NetParameter net = Net("layer { loss_weight: [ 1, -.5, 1e-3f, inf, -NaN, 0, 1e-60 ] }");
  ASSERT_EQ(7, net.layer(0).loss_weight_size());
  EXPECT_EQ(-0.5f, net.layer(0).loss_weight(1));
  EXPECT_EQ(1e-3f, net.layer(0).loss_weight(2));
  EXPECT_EQ(std::numeric_limits<float>::infinity(), net.layer(0).loss_weight(3));
  EXPECT_NE(net.layer(0).loss_weight(4), net.layer(0).loss_weight(4));
  EXPECT_EQ(
      "net:1:22: loss_weight takes a decimal number, not \"0x10\"\n"
      "net:2:14: loss_weight takes a decimal number, not \"017\"\n"
      "net:3:14: loss_weight takes a number, not \"ten\"\n"
      "warning: net:4:14: \"1e39\" is more than a float can hold: infinity",
      Said("layer { loss_weight: 0x10\n"
           "loss_weight: 017\n"
           "loss_weight: ten\n"
           "loss_weight: 1e39 }"));
}

TEST(TextReader, StringsAreJoinedAndEscaped) {
  EXPECT_EQ("a\n\"b\xC3\xA9", Net("name: 'a' \"\\n\\\"\"\n 'b' '\\303\\251'").name());
  EXPECT_EQ("net:1:11: unknown escape sequence in a string (a backslash is written \"\\\\\")",
            Said("name: \"C:\\data\""));
}

TEST(TextReader, BytesThatAreNotUtf8AreAccepted) {
  NetParameter net;
  EXPECT_EQ("", Said("# caf\xE9\nname: 'x'", {}, &net));
  EXPECT_EQ("warning: net:1:7: name has bytes that are not UTF-8",
            Said("name: 'caf\xE9'", {}, &net));
  EXPECT_EQ("caf\xE9", net.name());
}

TEST(TextReader, AByteOrderMarkIsAccepted) {
  NetParameter net;
  EXPECT_EQ("net:1:1: unknown field \"nam\" in NetParameter (did you mean \"name\"?)",
            Said("\xEF\xBB\xBFnam: 'x'", {}, &net));
}

TEST(TextReader, TypographicQuotesAreOneError) {
  EXPECT_EQ(
      "net:1:7: a character outside of strings and comments that is not ASCII; quotes must be "
      "plain \" or '",
      Said("name: \xE2\x80\x9Cnet one\xE2\x80\x9D\nforce_backward: true"));
}

TEST(TextReader, AMissingBraceIsOneError) {
  NetParameter net;
  EXPECT_EQ("net:3:1: \"}\" missing before \"layer\": the LayerParameter of net:1:1 is still open",
            Said("layer {\n"
                 "  convolution_param { bias_filler { } }\n"
                 "layer { name: 'b' }\n"
                 "layer { name: 'c' }",
                 {}, &net));
  ASSERT_EQ(3, net.layer_size());
  EXPECT_EQ("c", net.layer(2).name());
  EXPECT_EQ("net:2:3: this ConvolutionParameter is never closed",
            Said("layer {\n  convolution_param {\n pad: 1"));
}

TEST(TextReader, AClosingBraceTooManyIsOneError) {
  EXPECT_EQ("net:1:26: \"}\" closes nothing", Said("layer { relu_param { } } }"));
}

TEST(TextReader, RequiredFieldsAreAskedFor) {
  EXPECT_EQ("net:2:1: this ClipParameter lacks \"min\" and \"max\"",
            Said("layer {\nclip_param { } }"));
  EXPECT_EQ("net:2:1: this ClipParameter lacks \"max\"", Said("layer {\nclip_param { min: 0 } }"));
}

TEST(TextReader, AValueThatIsMissingTakesNothingElse) {
  EXPECT_EQ(
      "net:1:1: \"name\" has no value\n"
      "net:2:9: \"type\" has no value",
      Said("name: \n"
           "layer { type: top: 'a' bottom: 'b' }"));
}

TEST(TextReader, MessagesAndValuesAreNotTakenForEachOther) {
  EXPECT_EQ(
      "net:1:7: \"name\" takes a value, not a message in braces\n"
      "net:2:8: layer takes a message in braces, not \"5\"",
      Said("name: { a: 1 }\n"
           "layer: 5"));
}

TEST(TextReader, DeepNestingIsAnErrorAndNotACrash) {
  std::string deep, schema;
  for (int i = 0; i < 100000; ++i) {
    deep += "layer {";
    schema += "nested_type {";
  }
  EXPECT_NE("", Said(deep));
  EXPECT_NE("", Said("zzz " + std::string(1000000, '{')));
  google::protobuf::DescriptorProto message;  // holds messages of its own type
  const auto problems = ParseText(schema, "schema", {}, &message);
  ASSERT_FALSE(problems.empty());
  EXPECT_LE(problems.size(), 2u);
}

TEST(TextReader, MoreThanAThousandMistakesAreEnough) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "zzz: 1\n";
  NetParameter net;
  EXPECT_EQ(1000u, ParseText(text, "net", {}, &net).size());
}

TEST(TextReader, OtherKindsOfFilesAreNamed) {
  NetParameter net;
  net.set_name("lenet");
  net.add_layer()->add_blobs()->add_data(0);
  EXPECT_EQ(
      "net: this is not a text file; it seems to be a binary protobuf message, such as a "
      "caffemodel",
      Said(net.SerializeAsString()));
  EXPECT_EQ("net: this is not a text file; it seems to be an HDF5 file",
            Said(std::string("\x89HDF\r\n\x1a\n\0\0\0\0", 12)));
  EXPECT_EQ("net: this is not a text file; it seems to be the data file of an LMDB database",
            Said(std::string(16, '\0') + "\xDE\xC0\xEF\xBE" + std::string(100, '\0')));
  EXPECT_EQ(0u, Said("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
                    .find("net: this is a git-lfs pointer"));
  EXPECT_EQ(0u, Said("\n<!DOCTYPE html>\n<html>").find("net: this is a web page"));
  EXPECT_EQ("net:2:1: git left a merge conflict here that must be resolved first",
            Said("name: 'x'\n<<<<<<< HEAD\ninput: 'a'\n=======\n>>>>>>> b\n"));
}

/// A file that lives as long as the test.
class TextFile : public testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  const ScratchFolder folder_;
  const std::string path_ = folder_ / "net.prototxt";
};

// promise 15: a place and the nearest name for each, all at once.
TEST_F(TextFile, TenMistakesAreNamedAtOnceWithPlacesAndSuggestions) {
  Write(R"(name: "ten"
layer {
  name: "data" type: "Input" top: "data"
  input_param { shape: { dim: 1 dim: 3 dim: 8.0 dim: 8 } }
}
layer {
  name: "conv1"
  type: "Convolution"
  num_output: 20
  convolution_param {
    kernal_size: 5
    bias_term: TRUE
    weight_filler { type: xavier variance_norm: FANOUT }
  }
}
layer {
  name: "pool1"
  botom: "conv1"
  pooling_param { pool: max stride 2 }
  name: "pool1"
}
layer { name: "clip" clip_param { min: 0 } }
)");
  NetParameter net;
  std::string message;
  try {
    ReadText(path_, &net);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::vector<std::string> said = {
      "4:45: dim takes a whole number, not \"8.0\"",
      "9:3: unknown field \"num_output\" in LayerParameter; it is a field of convolution_param, "
      "embed_param, inner_product_param, recurrent_param, ...",
      "11:5: unknown field \"kernal_size\" in ConvolutionParameter (did you mean "
      "\"kernel_size\"?)",
      "12:16: bias_term takes true or false, not \"TRUE\"",
      "13:27: type takes a string: xavier must be in quotes",
      "13:49: unknown value \"FANOUT\" of variance_norm (did you mean \"FAN_OUT\"?); the values "
      "are FAN_IN, FAN_OUT, AVERAGE",
      "18:3: unknown field \"botom\" in LayerParameter (did you mean \"bottom\"?)",
      "19:25: unknown value \"max\" of pool (did you mean \"MAX\"?); the values are MAX, AVE, "
      "STOCHASTIC, AVE_EXC_PAD, AVE_TF",
      "19:29: \":\" missing after \"stride\"",
      "20:3: \"name\" is given twice in this LayerParameter, first at " + path_ + ":17:3",
      "22:22: this ClipParameter lacks \"max\""};
  std::vector<std::string> lines;
  for (const std::string& line : said) lines.push_back(path_ + ":" + line);
  EXPECT_EQ(Join(lines, "\n"), message);
}

TEST_F(TextFile, AtMostTwentyErrorsAreListed) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "zzz: 1\n";
  Write(text);
  NetParameter net;
  try {
    ReadText(path_, &net);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(21u, Split(error.what(), '\n').size());
    EXPECT_TRUE(EndsWith(error.what(), "\n... and 5 more")) << error.what();
  }
}

TEST_F(TextFile, WhatWasReadIsThere) {
  Write("name: 'x'\r\nforce_backward: true\r\n");
  NetParameter net;
  ReadText(path_, &net);
  EXPECT_EQ("x", net.name());
  EXPECT_THROW(ReadText(path_ + ".not_there", &net), Error);
}

TEST(ToText, IsShortAndWithoutPlaces) {
  const std::string text =
      "name: \"x\303\251\"\n"
      "layer {\n"
      "  loss_weight: 0.1\n"
      "}\n";
  EXPECT_EQ(text, ToText(Net(text)));
}

}  // namespace
}  // namespace moka
