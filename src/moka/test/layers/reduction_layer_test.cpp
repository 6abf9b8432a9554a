#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(shape, Reduction, "reduction_");

TEST(ReductionLayer, MatchesFiniteDifferences) {
  for (const char* operation : {"SUM", "ASUM", "SUMSQ", "MEAN"}) {
    for (const char* axis : {"0", "1", "-1"}) {
      CheckLayer({std::string("type: 'Reduction' bottom: 'a' top: 'b' reduction_param { coeff: 0.7 "
                              "operation: ") +
                      operation + " axis: " + axis + " }",
                  {Shape{3, 4, 5}}});
    }
  }
}

TEST(ReductionLayer, RefusesAnAxisThatIsNotThere) {
  ExpectError({"type: 'Reduction' bottom: 'a' top: 'b' reduction_param { axis: 2 }", {Shape{3, 4}}},
              {"axis 2", "2 axes"});
}

}  // namespace
}  // namespace moka
