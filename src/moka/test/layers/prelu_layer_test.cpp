#include <gtest/gtest.h>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(act, PReLU, "prelu_");

TEST(PReLULayer, WithSlopesByChannelAndShared) {
  for (const char* fields : {"", "prelu_param { channel_shared: true }",
                             "prelu_param { filler { type: 'uniform' min: -1 max: 1 } }"}) {
    for (const Shape& shape : {Shape{3, 4, 5}, Shape{5, 19}}) {
      CheckLayer({std::string("type: 'PReLU' bottom: 'a' top: 'b' ") + fields, {shape}});
    }
  }
  ExpectError({"type: 'PReLU' bottom: 'a' top: 'b'", {Shape{3}}}, {"N x C", "3"});
}

}  // namespace
}  // namespace moka
