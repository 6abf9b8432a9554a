#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(norm, MVN, "mvn_");
MOKA_GOLDEN(pool, SPP, "spp_");

TEST(MVNLayer, WithAndWithoutVarianceAndAcrossChannels) {
  for (const char* fields : {"", "across_channels: true", "normalize_variance: false",
                             "normalize_variance: false across_channels: true"}) {
    CheckLayer(
        {Text("type: 'MVN' bottom: 'a' top: 'b' mvn_param { ", fields, " }"), {Shape{2, 3, 4, 9}}});
  }
  CheckLayer(
      {"type: 'MVN' bottom: 'a' top: 'b' mvn_param { across_channels: true }", {Shape{3, 17}}});
  ExpectError({"type: 'MVN' bottom: 'a' top: 'b'", {Shape{1, 2, 3, 4, 5}}}, {"1 x 2 x 3 x 4 x 5"});
}

TEST(SPPLayer, PoolsToGrids) {
  for (const char* fields :
       {"pyramid_height: 1", "pyramid_height: 3", "pyramid_height: 3 pool: AVE"}) {
    CheckLayer(
        {Text("type: 'SPP' bottom: 'a' top: 'b' spp_param { ", fields, " }"),
         {Shape{2, 3, 8, 11}},
         TRAIN,
         [](int, int64_t j) { return static_cast<float>((j * 7919 + 13) % 1009) / 20 - 25; }});
  }
  const std::string spp = "type: 'SPP' bottom: 'a' top: 'b' spp_param { ";
  ExpectError({spp + "}", {Shape{1, 1, 8, 8}}}, {"pyramid_height"});
  ExpectError({spp + "pyramid_height: 3 }", {Shape{1, 1, 5, 8}}}, {"1 x 1 x 5 x 8", "4 x 4 bins"});
}

}  // namespace
}  // namespace moka
