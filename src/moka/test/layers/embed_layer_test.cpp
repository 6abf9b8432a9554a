#include <gtest/gtest.h>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(linear, Embed, "embed_");

const char kEmbed[] =
    "type: 'Embed' name: 'words' bottom: 'i' top: 'y' embed_param { input_dim: 5 num_output: 9 "
    "weight_filler { type: 'gaussian' } ";

TEST(EmbedLayer, LooksUpRowsAndAddsTheirGradients) {
  CheckLayer({std::string(kEmbed) + "}", {Shape{4, 3}}, TRAIN, Labels(0, 5)});
  CheckLayer({std::string(kEmbed) + "bias_term: false }", {Shape{31}}, TRAIN, Labels(0, 5)});
}

// promise 2
TEST(EmbedLayer, NamesTheFirstIndexOutsideTheTable) {
  ExpectError({std::string(kEmbed) + "}", {Shape{2, 3}}, TRAIN, Labels(0, 6)},
              {"words", "Embed", "index 5", "sample 0, position 2", "5 from 0 to 4", "input_dim"});
  ExpectError({"type: 'Embed' bottom: 'i' top: 'y' embed_param { input_dim: 5 }", {Shape{2}}},
              {"num_output"});
}

}  // namespace
}  // namespace moka
