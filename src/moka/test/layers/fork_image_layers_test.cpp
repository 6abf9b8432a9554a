#include <gtest/gtest.h>

#include <algorithm>

#include "moka/test/layers/harness.hpp"

namespace moka {
namespace {

MOKA_GOLDEN(fork_layers, ForkOrder, "shuffle_", "transpose", "pixelshuffler", "pad");
MOKA_GOLDEN(fork_layers, ForkProduct, "axpy", "mul_");
MOKA_GOLDEN(fork_layers, ForkResize, "interp_", "upsample_", "unpooling_");
MOKA_GOLDEN(fork_layers, ForkField, "lrn_", "dropout_", "pooling_", "inner_product_");

const Shape kImages{2, 6, 5, 7};

TEST(ShuffleChannelLayer, MixesGroups) {
  for (const char* group : {"1", "2", "3", "6"}) {
    CheckLayer({std::string("type: 'ShuffleChannel' bottom: 'a' top: 'b' shuffle_channel_param { "
                            "group: ") +
                    group + " }",
                {kImages}});
  }
  ExpectError(
      {"type: 'ShuffleChannel' bottom: 'a' top: 'b' shuffle_channel_param { group: 4 }", {kImages}},
      {"group 4", "6 channels"});
}

TEST(TransposeLayer, PutsAxesInAnotherOrder) {
  CheckLayer({"type: 'Transpose' bottom: 'a' top: 'b' transpose_param { dim: 2 dim: 0 dim: 1 }",
              {Shape{2, 3, 4}}});
  ExpectError({"type: 'Transpose' bottom: 'a' top: 'b' transpose_param { dim: 1 dim: 0 }",
               {Shape{2, 3, 4}}},
              {"2 dim", "3 axes"});
  ExpectError(
      {"type: 'Transpose' bottom: 'a' top: 'b' transpose_param { dim: 1 dim: 1 }", {Shape{2, 3}}},
      {"axis 1 twice"});
}

TEST(ReshapeLayer, TurnsChannelsIntoPixels) {
  CheckLayer({"type: 'Reshape' bottom: 'a' top: 'b' reshape_param { pixelshuffler: 2 }",
              {Shape{2, 8, 3, 5}}});
  ExpectError(
      {"type: 'Reshape' bottom: 'a' top: 'b' reshape_param { pixelshuffler: 2 }", {kImages}},
      {"pixelshuffler 2", "2 x 6 x 5 x 7"});
}

TEST(PadLayer, PutsZerosAround) {
  for (const char* pad : {"pad: 2", "pad_h: 1", "pad_l: 3 pad_b: 1", ""}) {
    CheckLayer(
        {std::string("type: 'Pad' bottom: 'a' top: 'b' pad_param { ") + pad + " }", {kImages}});
  }
  ExpectError({"type: 'Pad' bottom: 'a' top: 'b' pad_param { pad: 1 pad_t: 1 }", {kImages}},
              {"more than one"});
}

TEST(AxpyLayer, ScalesAndAdds) {
  const std::string axpy = "type: 'Axpy' bottom: 'a' bottom: 'b' bottom: 'c' top: 'd'";
  CheckLayer({axpy, {Shape{2, 6}, kImages, kImages}});
  CheckLayer({axpy, {Shape{2, 6, 1, 1}, kImages, kImages}});
  ExpectError({axpy, {Shape{6, 2, 1, 1}, kImages, kImages}}, {"6 x 2", "one factor"});
  ExpectError({axpy, {Shape{2, 6}, kImages, Shape{2, 6, 7, 5}}}, {"2 x 6 x 7 x 5", "same shape"});
}

TEST(MulLayer, MultipliesBlobsOfWhichOneMayLackAxes) {
  for (const std::string type : {"type: 'Mul'", "type: 'BroadcastMul'"}) {
    const std::string mul = type + " bottom: 'a' bottom: 'b' top: 'c'";
    for (const Shape& other : {kImages, Shape{2, 6}, Shape{2, 6, 1, 1}, Shape{1, 6, 1, 1},
                               Shape{2, 1, 5, 7}, Shape{1, 1, 1, 7}, Shape{}}) {
      CheckLayer({mul, {kImages, other}});
    }
    CheckLayer({mul, {Shape{2, 6, 1, 1}, kImages}});
  }
}

TEST(MulLayer, RefusesShapesThatDoNotFit) {
  const std::string mul = "type: 'Mul' bottom: 'a' bottom: 'b' top: 'c'";
  ExpectError({mul, {kImages, Shape{2, 3, 1, 1}}}, {"2 x 3 x 1 x 1", "axis 1"});
  ExpectError({mul, {Shape{2, 3, 1}, Shape{2, 1, 2}}}, {"axis 2"});
  ExpectError({mul, {kImages, Shape{2, 1, 5, 1}}}, {"take turns"});
}

TEST(InterpLayer, ResizesBothWays) {
  for (const char* interp :
       {"height: 9 width: 13", "height: 2 width: 3", "height: 1 width: 1", "zoom_factor: 4",
        "shrink_factor: 3", "height: 8 width: 9 pad_beg: -1 pad_end: -2"}) {
    CheckLayer({std::string("type: 'Interp' bottom: 'a' top: 'b' interp_param { ") + interp + " }",
                {kImages}});
  }
}

TEST(InterpLayer, ExplainsMistakes) {
  ExpectError({"type: 'Interp' bottom: 'a' top: 'b' interp_param { pad_beg: 1 }", {kImages}},
              {"positive pad_beg"});
  ExpectError({"type: 'Interp' bottom: 'a' top: 'b' interp_param { pad_end: -5 }", {kImages}},
              {"cuts all of axis 2"});
  ExpectError({"type: 'Interp' bottom: 'a' top: 'b' interp_param { height: 3 }", {kImages}},
              {"only one of height and width"});
}

TEST(UpsampleLayer, RepeatsAndInterpolates) {
  for (const char* up : {"scale: 2", "scale_h: 3 scale_w: 1", "scale: 0.5 stride: 3", "scale: 1",
                         "scale: 2 mode: BILINEAR", "scale_h: 1 scale_w: 5 mode: BILINEAR"}) {
    CheckLayer({std::string("type: 'Upsample' bottom: 'a' top: 'b' upsample_param { ") + up + " }",
                {kImages}});
  }
}

/// Values, and places all over planes of 10 x 14, each once.
float Placed(int bottom, int64_t j) {
  return bottom == 1 ? static_cast<float>(j % 35 * 4 + 3) : 0.25f * static_cast<float>(j % 9) - 1;
}

TEST(UpsampleLayer, PutsValuesToPlaces) {
  const std::string up = "type: 'Upsample' bottom: 'a' bottom: 'b' top: 'c' upsample_param { ";
  CheckLayer({up + "scale: 2 }", {kImages, kImages}, TRAIN, Placed});
  CheckLayer({up + "upsample_h: 11 upsample_w: 13 }", {kImages, kImages}, TRAIN, Placed});
  ExpectError({up + "scale: 1 }", {kImages, kImages}, TEST, Placed},
              {"place 35 of sample 0, position 8", "35 from 0 to 34", "Pooling"});
  ExpectError({up + "}", {kImages, Shape{2, 6, 7, 5}}}, {"must have the same shape"});
}

TEST(UnpoolingLayer, PutsValuesBack) {
  const std::string with_places = "type: 'Unpooling' bottom: 'a' bottom: 'b' top: 'c' ";
  CheckLayer({with_places + "unpooling_param { kernel_size: 2 stride: 2 }",
              {kImages, kImages},
              TRAIN,
              Placed});
  for (const char* unpool : {"", "unpool: AVE", "unpool: TILE"}) {
    for (const char* size :
         {"kernel_size: 2 stride: 2", "kernel_h: 3 kernel_w: 2 stride: 2 pad: 1"}) {
      CheckLayer({std::string("type: 'Unpooling' bottom: 'a' top: 'b' unpooling_param { ") +
                      unpool + " " + size + " }",
                  {kImages}});
    }
  }
  ExpectError({"type: 'Unpooling' bottom: 'a' top: 'b'", {kImages}}, {"needs kernel_size"});
}

TEST(LRNLayer, HasTheRightGradientInPlace) {
  for (const char* region : {"ACROSS_CHANNELS", "WITHIN_CHANNEL"}) {
    CheckLayer({std::string("type: 'LRN' bottom: 'a' top: 'b' lrn_param { local_size: 3 alpha: 2 "
                            "beta: 0.5 norm_region: ") +
                    region + " }",
                {kImages}});
  }
}

TEST(DropoutLayer, ScalesInTestingInsteadOfTraining) {
  const std::string layer =
      "type: 'Dropout' bottom: 'a' top: 'b' dropout_param { dropout_ratio: 0.75 scale_train: false";
  const auto one = [](int, int64_t) { return 1.0f; };
  for (float y : Output({layer + " }", {Shape{50}}, TRAIN, one})) EXPECT_TRUE(y == 0 || y == 1);
  EXPECT_EQ(Output({layer + " }", {Shape{1}}, TEST, one})[0], 0.25f);
  EXPECT_EQ(Output({layer + " scale_test: false }", {Shape{1}}, TEST, one})[0], 1);
  CheckLayer({layer + " }", {Shape{3, 50}}, TRAIN});
  CheckLayer({layer + " }", {Shape{3, 50}}, TEST});
}

TEST(DropoutLayer, SamplesInTestingWhenAsked) {
  const auto one = [](int, int64_t) { return 1.0f; };
  const std::vector<float> y =
      Output({"type: 'Dropout' bottom: 'a' top: 'b' dropout_param { sample_weights_test: true }",
              {Shape{1000}},
              TEST,
              one});
  const int64_t kept = std::count(y.begin(), y.end(), 2.0f);
  EXPECT_EQ(kept + std::count(y.begin(), y.end(), 0.0f), 1000);
  EXPECT_NEAR(kept, 500, 80);  // five standard deviations
}

TEST(InnerProductLayer, DividesWeightsByTheirLengthWhenAsked) {
  for (const char* transpose : {"", " transpose: true"}) {
    CheckLayer({std::string("type: 'InnerProduct' name: 'ip' bottom: 'a' top: 'b' "
                            "inner_product_param { num_output: 7 normalize: true weight_filler { "
                            "type: 'xavier' }") +
                    transpose + " }",
                {Shape{3, 5, 2}}});
  }
}

TEST(ParameterLayer, BeginsAsItsFillerSays) {
  EXPECT_EQ(Output({"type: 'Parameter' top: 'a' parameter_param { shape { dim: 2 } filler { value: "
                    "3 } }",
                    {}}),
            (std::vector<float>{3, 3}));
}

}  // namespace
}  // namespace moka
