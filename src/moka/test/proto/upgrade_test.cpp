#include "moka/proto/upgrade.hpp"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/source.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

using google::protobuf::TextFormat;
using google::protobuf::util::MessageDifferencer;
using Messages = std::vector<std::string>;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

NetParameter Upgraded(const std::string& text, Messages* messages = nullptr) {
  Messages ignored;
  auto net = Parse<NetParameter>(text);
  UpgradeNet(&net, messages ? messages : &ignored);
  return net;
}

template <typename Message>
void ExpectSame(const Message& got, const Message& want) {
  std::string differences;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(want, got)) << differences;
}

template <typename Action>
std::string MessageOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool SaysNothingToDo(const GoldenCase& golden) {
  return golden.File("messages.txt").find("already in latest") != std::string::npos;
}

TEST(Upgrade, NetsBecomeWhatCaffeMakesOfThem) {
  int compared = 0;
  for (const GoldenCase& golden : GoldenCases("io", "upgrade_")) {
    const bool solver = StartsWith(golden.name(), "upgrade_solver");
    // Caffe drops names and types of V1 layers beside V0 layers; moka keeps them (below).
    if (solver || golden.name() == "upgrade_v0_mixed_with_v1") continue;
    SCOPED_TRACE(golden.name());
    auto net = Parse<NetParameter>(golden.File("input.prototxt"));
    Messages messages;
    EXPECT_EQ(UpgradeNet(&net, &messages), !SaysNothingToDo(golden));
    ExpectSame(net, Parse<NetParameter>(golden.File("expected.prototxt")));
    EXPECT_FALSE(UpgradeNet(&net, &messages)) << "a second time";
    ++compared;
  }
  EXPECT_GE(compared, 41);
}

TEST(Upgrade, SolversBecomeWhatCaffeMakesOfThem) {
  int compared = 0;
  for (const GoldenCase& golden : GoldenCases("io", "upgrade_solver")) {
    SCOPED_TRACE(golden.name());
    auto solver = Parse<SolverParameter>(golden.File("input.prototxt"));
    EXPECT_EQ(UpgradeSolver(&solver), !SaysNothingToDo(golden));
    ExpectSame(solver, Parse<SolverParameter>(golden.File("expected.prototxt")));
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

TEST(Upgrade, SolverWithOldAndNewTypeIsAnError) {
  auto solver = Parse<SolverParameter>("type: \"Adam\" solver_type: SGD");
  EXPECT_EQ(MessageOf([&] { UpgradeSolver(&solver); }),
            "both type (\"Adam\") and the old solver_type (SGD) are given\n  remove solver_type");
}

TEST(Upgrade, LayersOfAllAgesKeepNamesAndTypesInOneFile) {
  const NetParameter net = Upgraded(R"(
      layers { layer { name: "r" type: "relu" } bottom: "d" top: "r" }
      layers { name: "q" type: SIGMOID bottom: "r" top: "q" }
      layer { name: "t" type: "TanH" bottom: "q" top: "t" })");
  ExpectSame(net, Parse<NetParameter>(R"(
      layer { name: "r" type: "ReLU" bottom: "d" top: "r" }
      layer { name: "q" type: "Sigmoid" bottom: "r" top: "q" }
      layer { name: "t" type: "TanH" bottom: "q" top: "t" })"));
}

TEST(Upgrade, MixedLayersStayInTheOrderOfTheText) {
  const NetParameter net = Upgraded(R"(
      layer { name: "second" source { file: "f" line: 2 column: 1 } }
      layers { name: "third" type: TANH source { file: "f" line: 3 column: 1 } }
      layers { name: "first" type: TANH source { file: "f" line: 1 column: 1 } })");
  EXPECT_EQ(net.layer(0).name(), "first");
  EXPECT_EQ(net.layer(1).name(), "second");
  EXPECT_EQ(net.layer(2).name(), "third");
}

TEST(Upgrade, PaddingIsFoldedIntoTheLayersBehind) {
  const NetParameter net = Upgraded(R"(
      layers { layer { name: "pad1" type: "padding" pad: 2 } bottom: "data" top: "padded" }
      layers { layer { name: "conv1" type: "conv" num_output: 4 kernelsize: 3 }
               bottom: "padded" top: "conv1" }
      layers { layer { name: "pool1" type: "pool" kernelsize: 3 } bottom: "padded" top: "pool1" }
      layers { layer { name: "conv2" type: "conv" kernelsize: 1 } bottom: "conv1" top: "padded" }
      layers { layer { name: "relu" type: "relu" } bottom: "padded" top: "padded" })");
  ExpectSame(net, Parse<NetParameter>(R"(
      layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
              convolution_param { num_output: 4 pad: 2 kernel_size: 3 } }
      layer { name: "pool1" type: "Pooling" bottom: "data" top: "pool1"
              pooling_param { pad: 2 kernel_size: 3 } }
      layer { name: "conv2" type: "Convolution" bottom: "conv1" top: "padded"
              convolution_param { kernel_size: 1 } }
      layer { name: "relu" type: "ReLU" bottom: "padded" top: "padded" })"));
}

TEST(Upgrade, V0WindowDataLrnAndDropoutFindTheirFields) {
  ExpectSame(Upgraded(R"(
      layers { layer { name: "w" type: "window_data" source: "w.txt" batchsize: 8 cropsize: 5
                       scale: 2 det_fg_threshold: 0.6 det_bg_threshold: 0.3 det_fg_fraction: 0.5
                       det_context_pad: 4 det_crop_mode: "square" } top: "d" top: "l" }
      layers { layer { name: "n" type: "lrn" local_size: 3 alpha: 2 beta: 0.5 k: 4 }
               bottom: "d" top: "n" }
      layers { layer { name: "o" type: "dropout" dropout_ratio: 0.7 } bottom: "n" top: "n" })"),
             Parse<NetParameter>(R"(
      layer { name: "w" type: "WindowData" top: "d" top: "l"
              transform_param { scale: 2 crop_size: 5 }
              window_data_param { source: "w.txt" batch_size: 8 fg_threshold: 0.6
                bg_threshold: 0.3 fg_fraction: 0.5 context_pad: 4 crop_mode: "square" } }
      layer { name: "n" type: "LRN" bottom: "d" top: "n"
              lrn_param { local_size: 3 alpha: 2 beta: 0.5 k: 4 } }
      layer { name: "o" type: "Dropout" bottom: "n" top: "n"
              dropout_param { dropout_ratio: 0.7 } })"));
}

TEST(Upgrade, SharedParametersOfV1KeepNamesAndModes) {
  ExpectSame(Upgraded(R"(
      layers { name: "a" type: INNER_PRODUCT param: "w" param: "b" blob_share_mode: PERMISSIVE
               blobs_lr: 1 blobs_lr: 2 weight_decay: 3 })"),
             Parse<NetParameter>(R"(
      layer { name: "a" type: "InnerProduct"
              param { name: "w" share_mode: PERMISSIVE lr_mult: 1 decay_mult: 3 }
              param { name: "b" lr_mult: 2 } })"));
}

TEST(Upgrade, BlobsMoveToTheNewLayer) {
  const NetParameter net = Upgraded(R"(
      layers { name: "a" type: INNER_PRODUCT blobs { data: 1 data: 2 } blobs { data: 3 } }
      layers { layer { name: "b" type: "conv" blobs { data: 4 } } })");
  ASSERT_EQ(net.layer(0).blobs_size(), 2);
  EXPECT_EQ(net.layer(0).blobs(0).data(1), 2);
  EXPECT_EQ(net.layer(0).blobs(1).data(0), 3);
  EXPECT_EQ(net.layer(1).blobs(0).data(0), 4);
}

TEST(Upgrade, PlacesOfFieldsMoveAlong) {
  const NetParameter net = Upgraded(R"(
      layers { layer { name: "c" type: "conv" kernelsize: 3 blobs_lr: 1 blobs_lr: 2 }
        source { file: "net" line: 1 column: 1
                 field { path: "layer.kernelsize" line: 2 column: 3 }
                 field { path: "layer.blobs_lr[1]" line: 4 column: 5 } } }
      layers { name: "d" type: DATA data_param { scale: 2 source: "db" } weight_decay: 1
        source { file: "net" line: 6 column: 1
                 field { path: "data_param.scale" line: 7 column: 8 }
                 field { path: "weight_decay" line: 9 column: 10 } } })");
  EXPECT_EQ(FieldPlaceOf(net.layer(0), "convolution_param.kernel_size"), "net:2:3");
  EXPECT_EQ(FieldPlaceOf(net.layer(0), "param[1].lr_mult"), "net:4:5");
  EXPECT_EQ(FieldPlaceOf(net.layer(1), "transform_param.scale"), "net:7:8");
  EXPECT_EQ(FieldPlaceOf(net.layer(1), "param[0].decay_mult"), "net:9:10");
}

TEST(Upgrade, InputLayerStandsWhereTheInputsStood) {
  const NetParameter net = Upgraded(R"(
      input: "a" input: "b" input_shape { dim: 1 } input_shape { dim: 2 }
      source { file: "net" line: 1 column: 1
               field { path: "input" line: 2 column: 1 } field { path: "input[1]" line: 3 column: 1 }
               field { path: "input_shape[1]" line: 4 column: 5 } })");
  EXPECT_EQ(LayerPlace(net.layer(0)), "net:2:1: layer \"input\" (Input)");
  EXPECT_EQ(FieldPlaceOf(net.layer(0), "top[1]"), "net:3:1");
  EXPECT_EQ(FieldPlaceOf(net.layer(0), "input_param.shape[1].dim[0]"), "net:4:5");
}

TEST(Upgrade, MessagesSayWhatHasNoEffect) {
  Messages messages;
  Upgraded(R"(
      layers { layer { name: "r" type: "relu" stride: 2 } bottom: "d" top: "r"
               source { file: "net" line: 5 column: 1
                        field { path: "layer.stride" line: 6 column: 7 } } }
      layer { name: "d" type: "Data" data_param { crop_size: 4 scale: 2 } }
      layer { name: "b" type: "BatchNorm" param { lr_mult: 1 } param { } param { lr_mult: 0 } }
      input: "x")",
           &messages);
  EXPECT_EQ(messages,
            (Messages{"layer \"d\" (Data): scale, crop_size in data_param without effect: belongs "
                      "in transform_param",
                      "net:6:7: layer \"r\" (ReLU): stride has no effect here",
                      "1 layer of the old format (`layers`) read as `layer`",
                      "input \"x\" has neither input_shape nor input_dim and is left out",
                      "layer \"b\" (BatchNorm): lr_mult has no effect: statistics are not "
                      "learned"}));
}

TEST(Upgrade, TransformationInsideTheDataMovesToItsPlace) {
  Messages messages;
  ExpectSame(Upgraded("layer { name: 'd' type: 'Data' data_param { batch_size: 2 "
                      "transform_param { scale: 2 } } }",
                      &messages),
             Parse<NetParameter>("layer { name: 'd' type: 'Data' data_param { batch_size: 2 } "
                                 "transform_param { scale: 2 } }"));
  EXPECT_EQ(1u, messages.size());
  EXPECT_THROW(Upgraded("layer { type: 'ImageData' image_data_param { transform_param { } } "
                        "transform_param { } }"),
               Error);
}

TEST(Upgrade, AFusedReluBecomesALayer) {
  const NetParameter net = Upgraded(R"(
      layer { name: "c" type: "Convolution" bottom: "a" top: "b" include { phase: TEST }
              convolution_param { num_output: 2 fuse_type: FUSED_CONV_RELU
                                  relu_param { negative_slope: 0.5 } } }
      layer { name: "d" type: "Convolution" bottom: "b" top: "e"
              convolution_param { num_output: 2 fuse_type: UNFUSED } })");
  ExpectSame(net, Parse<NetParameter>(R"(
      layer { name: "c" type: "Convolution" bottom: "a" top: "b" include { phase: TEST }
              convolution_param { num_output: 2 } }
      layer { name: "b/relu" type: "ReLU" bottom: "b" top: "b" include { phase: TEST }
              relu_param { negative_slope: 0.5 } }
      layer { name: "d" type: "Convolution" bottom: "b" top: "e"
              convolution_param { num_output: 2 fuse_type: UNFUSED } })"));
}

TEST(Upgrade, InvalidOldNetsAreRefusedWithTheReason) {
  const auto refuse = [](const std::string& name) {
    return MessageOf([&] { Upgraded(GoldenCase("invalid", name).File()); });
  };
  EXPECT_EQ(refuse("v0_unknown_type"),
            "layer \"r\": unknown type \"convolve\" of the oldest (V0) format");
  EXPECT_EQ(refuse("v0_padding_before_relu"),
            "layer \"p\" (padding): a padding layer may only feed conv or pool, but \"r\" reads "
            "\"p\"");
  EXPECT_EQ(refuse("input_dim_too_few"), "1 input needs 4 input_dim, but 2 are given");
}

TEST(Upgrade, NumberOfInputShapesMustFit) {
  EXPECT_EQ(MessageOf([] { Upgraded("input: \"a\" input: \"b\" input_shape { dim: 1 }"); }),
            "2 inputs need 2 input_shape, but 1 is given");
}

TEST(Upgrade, AnLSTMWithLstmParamIsAnLstm) {
  ExpectSame(Upgraded("layers { name: 'a' type: LSTM lstm_param { num_output: 5 } }"
                      "layer { name: 'b' type: 'LSTM' lstm_param { num_output: 6 } }"
                      "layer { name: 'c' type: 'LSTM' recurrent_param { num_output: 7 } }"),
             Parse<NetParameter>("layer { name: 'a' type: 'Lstm' lstm_param { num_output: 5 } }"
                                 "layer { name: 'b' type: 'Lstm' lstm_param { num_output: 6 } }"
                                 "layer { name: 'c' type: 'LSTM' recurrent_param "
                                 "{ num_output: 7 } }"));
}

TEST(Upgrade, EveryV1TypeHasAName) {
  const auto* types = V1LayerParameter::LayerType_descriptor();
  for (int i = 0; i < types->value_count(); ++i) {
    const auto type = static_cast<V1LayerParameter::LayerType>(types->value(i)->number());
    EXPECT_EQ(TypeOfV1(type).empty(), type == V1LayerParameter::NONE) << types->value(i)->name();
  }
}

}  // namespace
}  // namespace moka
