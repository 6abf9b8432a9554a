#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

/// A literal with all its bytes, zeros too.
template <size_t kSize>
std::string Bytes(const char (&literal)[kSize]) {
  return std::string(literal, kSize - 1);
}

/// Texts that Caffe accepts, and what its upgrade_net_proto_text made of them.
const struct Accepted {
  const char *name, *input, *expected;
} kAccepted[] = {
    {"bool_forms",
     "force_backward: t\n"
     "layer { bottom: \"a\" propagate_down: True propagate_down: f propagate_down: 0 "
     "propagate_down: 1 propagate_down: False propagate_down: true }\n",
     "force_backward: true layer { bottom: \"a\" propagate_down: true propagate_down: "
     "false propagate_down: false propagate_down: true propagate_down: false "
     "propagate_down: true }"},
    {"colon_before_brace", "layer: { name: \"x\" }\n", "layer { name: \"x\" }"},
    {"comments",
     "# c\n"
     "name: \"x # not a comment\" # t\n"
     "#end",
     "name: \"x # not a comment\""},
    {"crlf",
     "name: \"x\"\r\n"
     "layer { name: \"r\"\r\n"
     "}\r\n",
     "name: \"x\" layer { name: \"r\" }"},
    {"deep_defaults",
     "layer { name: \"l\" type: \"Power\" convolution_param { weight_filler { } "
     "bias_filler { type: \"msra\" variance_norm: AVERAGE } } }\n",
     "layer { name: \"l\" type: \"Power\" convolution_param { weight_filler { } "
     "bias_filler { type: \"msra\" variance_norm: AVERAGE } } }"},
    {"empty_file", "", ""},
    {"exponent",
     "layer { name: \"l\" type: \"Power\" power_param { power: 2.5E+1 scale: 1e-3 "
     "shift: -1E2 } }\n",
     "layer { name: \"l\" type: \"Power\" power_param { power: 25 scale: 0.001 shift: "
     "-100 } }"},
    {"float_suffix",
     "layer { name: \"l\" type: \"Power\" power_param { power: 1.5f scale: 2F shift: "
     "-3f } }\n",
     "layer { name: \"l\" type: \"Power\" power_param { power: 1.5 scale: 2 shift: -3 "
     "} }"},
    {"infinity",
     "layer { name: \"l\" type: \"Power\" power_param { power: infinity scale: "
     "-INFINITY shift: -nan } }\n",
     "layer { name: \"l\" type: \"Power\" power_param { power: inf scale: -inf shift: "
     "nan } }"},
    {"leading_dot", "layer { name: \"l\" type: \"Power\" power_param { power: .5 } }\n",
     "layer { name: \"l\" type: \"Power\" power_param { power: 0.5 } }"},
    {"list_of_messages", "layer: [ { name: \"a\" }, < name: \"b\" > ]\n",
     "layer { name: \"a\" } layer { name: \"b\" }"},
    {"minus_space", "layer { name: \"l\" type: \"Power\" softmax_param { axis: - 1 } }\n",
     "layer { name: \"l\" type: \"Power\" softmax_param { axis: -1 } }"},
    {"neg_leading_dot", "layer { name: \"l\" type: \"Power\" power_param { power: -.5 } }\n",
     "layer { name: \"l\" type: \"Power\" power_param { power: -0.5 } }"},
    {"no_space", "name:\"x\"layer{name:\"r\"type:\"ReLU\"}",
     "name: \"x\" layer { name: \"r\" type: \"ReLU\" }"},
    {"only_comment", "# nothing\n", ""},
    {"semicolons_commas", "name: \"x\"; layer { name: \"r\"; type: \"ReLU\", top: \"y\" };\n",
     "name: \"x\" layer { name: \"r\" type: \"ReLU\" top: \"y\" }"},
    {"single_quotes", "name: 'x \"y\"'\n", "name: \"x \\\"y\\\"\""},
    {"string_concat",
     "name: \"a\" \"b\"\n"
     "  'c'\n",
     "name: \"abc\""},
    {"utf8", "name: \"\303\251\344\270\255\"\n", "name: \"\\303\\251\\344\\270\\255\""},
};

/// Texts that Caffe refuses, and what must be said.
const struct Refused {
  const char* name;
  std::string input;
  const char* said;
} kRefused[] = {
    {"binary_garbage", Bytes("\000\001\002\177\000\000"), "net: this is not a text file"},
    {"bool_two", Bytes("force_backward: 2\n"),
     "net:1:17: force_backward takes true or false, not \"2\""},
    {"bool_upper", Bytes("force_backward: TRUE\n"),
     "net:1:17: force_backward takes true or false, not \"TRUE\""},
    {"bracket_mismatch", Bytes("layer < name: \"x\" }\n"),
     "net:1:19: the LayerParameter of net:1:1 must be closed by \">\", not \"}\""},
    {"dup_in_layer", Bytes("layer { name: \"a\" type: \"ReLU\" type: \"TanH\" }\n"),
     "net:1:32: \"type\" is given twice in this LayerParameter, first at net:1:19"},
    {"dup_message",
     Bytes("layer { name: \"l\" type: \"Power\" power_param { power: 1 } power_param { "
           "scale: 2 } }\n"),
     "net:1:58: \"power_param\" is given twice in this LayerParameter, first at net:1:33"},
    {"enum_number", Bytes("layer { name: \"l\" type: \"Power\" phase: 7 }\n"),
     "net:1:40: unknown value \"7\" of phase; the values are TRAIN, TEST"},
    {"enum_quoted", Bytes("layer { name: \"l\" type: \"Power\" phase: \"TEST\" }\n"),
     "net:1:40: phase takes a name without quotes, not \"TEST\""},
    {"enum_unknown",
     Bytes("layer { name: \"l\" type: \"Power\" pooling_param { pool: MEDIAN } }\n"),
     "net:1:55: unknown value \"MEDIAN\" of pool; the values are MAX, AVE, STOCHASTIC, "
     "AVE_EXC_PAD, AVE_TF"},
    {"float_for_int", Bytes("input_dim: 3.0\n"),
     "net:1:12: input_dim takes a whole number, not \"3.0\""},
    {"list_trailing_comma", Bytes("input_dim: [1, 2,]\n"),
     "net:1:18: a value is missing in the list of input_dim before \"]\""},
    {"no_colon", Bytes("name \"x\"\n"), "net:1:1: \":\" missing after \"name\""},
    {"number_for_string", Bytes("name: 12\n"),
     "net:1:7: name takes a string: 12 must be in quotes"},
    {"number_then_word", Bytes("input_dim:3input_dim:4\n"),
     "net:1:12: space missing between a number and a word"},
    {"plus_sign", Bytes("layer { name: \"l\" type: \"Power\" power_param { power: +2.5 } }\n"),
     "net:1:54: power takes a number, not \"+\"; leave it out"},
    {"string_without_quotes", Bytes("name: abc\n"),
     "net:1:7: name takes a string: abc must be in quotes"},
    {"unknown_layer_field", Bytes("layer { name: \"l\" type: \"Power\" foo: 1 }\n"),
     "net:1:33: unknown field \"foo\" in LayerParameter"},
    {"unknown_net_field", Bytes("foo: 1\n"), "net:1:1: unknown field \"foo\" in NetParameter"},
    {"unterminated_string", Bytes("name: \"abc\n"),
     "net:1:7: the closing quote of this string is missing"},
    {"word_for_number",
     Bytes("layer { name: \"l\" type: \"Power\" convolution_param { num_output: ten } }\n"),
     "net:1:65: num_output takes a whole number of at least 0, not \"ten\""},
};

TEST(TextGolden, ReadsWhatCaffeReads) {
  for (const Accepted& text : kAccepted) {
    SCOPED_TRACE(text.name);
    NetParameter net, expected;
    for (const TextProblem& problem : ParseText(text.input, "net.prototxt", {}, &net)) {
      ADD_FAILURE() << problem.ToString();
    }
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text.expected, &expected));
    // Printed, so that NaN equals NaN.
    EXPECT_EQ(ToText(expected), ToText(net));
  }
}

TEST(TextGolden, RefusesWhatCaffeRefusesWithOneErrorAtItsPlace) {
  for (const Refused& text : kRefused) {
    SCOPED_TRACE(text.name);
    NetParameter net;
    const std::vector<TextProblem> problems = ParseText(text.input, "net", {}, &net);
    ASSERT_EQ(1u, problems.size());
    EXPECT_FALSE(problems[0].warning);
    EXPECT_EQ(text.said, problems[0].ToString());
  }
}

}  // namespace
}  // namespace moka
