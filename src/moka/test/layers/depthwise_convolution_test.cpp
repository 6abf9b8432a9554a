#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

LayerCase Case(const std::string& type, const std::string& group) {
  return {"name: 'l' " + type + " bottom: 'a' top: 'b' convolution_param { num_output: 3 pad: 1 " +
              group + " kernel_size: 3 weight_filler { type: 'xavier' } }",
          {Shape{2, 3, 7, 6}}};
}

// The names that forks use for a convolution with one group a channel.
TEST(DepthwiseConvolution, IsAConvolutionWithOneGroupAChannel) {
  const std::vector<float> expected = Output(Case("type: 'Convolution'", "group: 3"));
  for (const char* type :
       {"type: 'DepthwiseConvolution'", "type: 'ConvolutionDepthwise'", "type: 'DepthwiseConv'"}) {
    EXPECT_EQ(Output(Case(type, "")), expected) << type;
    CheckLayer(Case(type, ""));
  }
}

}  // namespace
}  // namespace moka
