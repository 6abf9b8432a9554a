#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(shape, Slice, "slice_");

std::string Slice(const std::string& fields) {
  return "type: 'Slice' bottom: 'a' top: 'b' top: 'c' slice_param { " + fields + " }";
}

TEST(SliceLayer, MatchesFiniteDifferencesOnEveryAxis) {
  for (const char* fields : {"axis: 1", "axis: 2 slice_point: 1", "axis: -1 slice_point: 4"}) {
    CheckLayer({Slice(fields), {Shape{3, 4, 5}}});
  }
}

TEST(SliceLayer, RefusesWhatCannotBeCut) {
  ExpectError({Slice("axis: 1"), {Shape{2, 3}}}, {"2 x 3", "2 equal parts"});
  ExpectError({Slice("slice_point: 1 slice_point: 2"), {Shape{2, 3}}}, {"2 slice_point", "2 top"});
  ExpectError({Slice("slice_point: 3"), {Shape{2, 3}}}, {"slice_point 3", "nothing"});
  ExpectError({Slice("slice_point: 0"), {Shape{2, 3}}}, {"slice_point 0", "nothing"});
}

}  // namespace
}  // namespace moka
