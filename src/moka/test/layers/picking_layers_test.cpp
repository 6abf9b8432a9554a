#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(shape, Tile, "tile_");
MOKA_GOLDEN(shape, Crop, "crop_");
MOKA_GOLDEN(shape, ArgMax, "argmax_");
MOKA_GOLDEN(shape, FilterLayer, "filter_");
MOKA_GOLDEN(shape, BatchReindex, "batchreindex_");

float Counting(int, int64_t j) { return static_cast<float>(j); }

TEST(TileLayer, AlongEachAxis) {
  for (int axis : {0, 1, -1}) {
    CheckLayer({Text("type: 'Tile' bottom: 'a' top: 'b' tile_param { tiles: 3 axis: ", axis, " }"),
                {Shape{2, 3, 4}}});
  }
  ExpectError({"type: 'Tile' bottom: 'a' top: 'b'", {Shape{2, 3}}}, {"tile_param.tiles"});
  ExpectError({"type: 'Tile' bottom: 'a' top: 'b' tile_param { tiles: 0 }", {Shape{2, 3}}},
              {"tiles 0"});
}

TEST(CropLayer, CutsAPartOfTheSizeOfTheReference) {
  const std::vector<Shape> shapes{Shape{2, 3, 5, 6}, Shape{2, 1, 3, 2}};
  const std::string crop = "type: 'Crop' bottom: 'a' bottom: 'b' top: 'c' crop_param { ";
  CheckLayer({crop + "offset: 1 offset: 3 }", shapes});
  CheckLayer({crop + "axis: 1 offset: 2 }", shapes});
  ExpectError({crop + "offset: 3 }", shapes}, {"3 values from 3 on", "2 x 3 x 5 x 6"});
  ExpectError({crop + "axis: 1 offset: 1 offset: 1 }", shapes}, {"2 offset(s) for 3 axes"});
  ExpectError({crop + "}", {Shape{2, 3, 5, 6}, Shape{2, 3}}}, {"same number of axes"});
}

TEST(PermuteLayer, PutsAxesInAnotherOrder) {
  for (const char* order : {"", "order: 0 order: 2 order: 3 order: 1", "order: 3", "order: 2"}) {
    CheckLayer({Text("type: 'Permute' bottom: 'a' top: 'b' permute_param { ", order, " }"),
                {Shape{2, 3, 4, 5}}});
  }
  EXPECT_EQ(Output({"type: 'Permute' bottom: 'a' top: 'b' permute_param { order: 1 order: 0 }",
                    {Shape{2, 3}},
                    TEST,
                    Counting}),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
  ExpectError({"type: 'Permute' bottom: 'a' top: 'b' permute_param { order: 2 }", {Shape{2, 3}}},
              {"axis 2", "2 x 3"});
  ExpectError(
      {"type: 'Permute' bottom: 'a' top: 'b' permute_param { order: 1 order: 1 }", {Shape{2, 3}}},
      {"axis 1 twice"});
}

TEST(ArgMaxLayer, OnOddSizes) {
  for (const char* fields : {"", "axis: 1 top_k: 3", "top_k: 4 out_max_val: true", "axis: -1"}) {
    CheckLayer({Text("type: 'ArgMax' bottom: 'a' top: 'b' argmax_param { ", fields, " }"),
                {Shape{3, 5, 7}},
                TEST,
                nullptr,
                false});
  }
  // Of equal values the later one comes first.
  EXPECT_EQ(Output({"type: 'ArgMax' bottom: 'a' top: 'b' argmax_param { top_k: 3 }",
                    {Shape{1, 4}},
                    TEST,
                    [](int, int64_t j) { return j == 1 ? 5.0f : 7.0f; }}),
            (std::vector<float>{3, 2, 0}));
  ExpectError({"type: 'ArgMax' bottom: 'a' top: 'b' argmax_param { top_k: 9 }", {Shape{2, 5}}},
              {"top_k 9", "5 values"});
}

TEST(FilterLayer, KeepsWhatTheSelectorChooses) {
  const auto every_other = [](int bottom, int64_t j) {
    return bottom == 1 ? static_cast<float>(j % 2) : static_cast<float>(j + 1);
  };
  const std::string filter = "type: 'Filter' bottom: 'a' bottom: 's' top: 'y'";
  EXPECT_EQ(Output({filter, {Shape{4, 2}, Shape{4}}, TEST, every_other}),
            (std::vector<float>{3, 4, 7, 8}));
  // Nothing chosen: a top without items.
  EXPECT_EQ(Output({filter, {Shape{4, 2}, Shape{4}}, TEST, [](int, int64_t) { return 0.0f; }}),
            std::vector<float>());
  ExpectError({filter, {Shape{4, 2}, Shape{4, 2}}}, {"4 x 2", "one value for each item"});
  ExpectError({filter, {Shape{4, 2}, Shape{3}}}, {"4 x 2", "3"});
}

TEST(BatchReindexLayer, RefusesItemsThatAreNotThere) {
  const std::string reindex = "type: 'BatchReindex' bottom: 'a' bottom: 'i' top: 'y'";
  const LayerCase large{reindex,
                        {Shape{4, 2}, Shape{3}},
                        TEST,
                        [](int bottom, int64_t j) { return bottom == 1 ? 3.0f + j : 1.0f; },
                        false};
  ExpectError(large, {"is 4", "4 items"});
  ExpectError({reindex, {Shape{4, 2}, Shape{3, 1}}}, {"3 x 1"});
}

}  // namespace
}  // namespace moka
