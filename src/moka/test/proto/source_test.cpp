#include "moka/proto/source.hpp"

#include <gtest/gtest.h>

#include <string>

#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

NetParameter Net(const std::string& text) {
  NetParameter net;
  for (const TextProblem& problem : ParseText(text, "net", {}, &net)) {
    ADD_FAILURE() << problem.ToString();
  }
  return net;
}

const char kText[] =
    "name: 'places'\n"
    "input: 'a' input: 'b'\n"
    "layer {\n"
    "  name: 'conv1' type: 'Convolution'\n"
    "  param { lr_mult: 1 }\n"
    "  param {\n"
    "    lr_mult: 2\n"
    "  }\n"
    "  convolution_param {\n"
    "    num_output: 20 kernel_size: [ 3,\n"
    "      5 ]\n"
    "    weight_filler { type: 'xavier' }\n"
    "  }\n"
    "}\n"
    "layer { }\n";

TEST(Source, LayersAndTheirFieldsKnowWhereTheyStand) {
  const NetParameter net = Net(kText);
  const LayerParameter& layer = net.layer(0);
  EXPECT_EQ("net:3:1: layer \"conv1\" (Convolution)", LayerPlace(layer));
  EXPECT_EQ("net:15:1: unnamed layer", LayerPlace(net.layer(1)));
  EXPECT_EQ("net:4:17", FieldPlaceOf(layer, "type"));
  EXPECT_EQ("net:5:11", FieldPlaceOf(layer, "param.lr_mult"));
  EXPECT_EQ("net:5:11", FieldPlaceOf(layer, "param[0].lr_mult"));
  EXPECT_EQ("net:7:5", FieldPlaceOf(layer, "param[1].lr_mult"));
  EXPECT_EQ("net:10:35", FieldPlaceOf(layer, "convolution_param.kernel_size"));
  EXPECT_EQ("net:11:7", FieldPlaceOf(layer, "convolution_param.kernel_size[1]"));
  EXPECT_EQ("net:12:21", FieldPlaceOf(layer, "convolution_param.weight_filler.type"));
}

TEST(Source, AFieldThatIsNotThereStandsWhereItsMessageStands) {
  const LayerParameter layer = Net(kText).layer(0);
  EXPECT_EQ("net:6:3", FieldPlaceOf(layer, "param[1].decay_mult"));
  EXPECT_EQ("net:9:3", FieldPlaceOf(layer, "convolution_param.bias_filler.value"));
  EXPECT_EQ("net:3:1", FieldPlaceOf(layer, "pooling_param.pool"));
}

TEST(Source, NetsSolversAndOldLayersHavePlacesToo) {
  const NetParameter net = Net(kText);
  EXPECT_EQ("net:2:12", FieldPlaceOf(net.source(), "input[1]"));
  const NetParameter v0 = Net("layers {\n layer { name: 'a' type: 'relu' } bottom: 'x' }");
  EXPECT_EQ("net:1:1", PlaceText(v0.layers(0).source()));
  EXPECT_EQ("net:2:20", FieldPlaceOf(v0.layers(0).source(), "layer.type"));
  SolverParameter solver;
  ParseText("base_lr: 1\nnet_param { layer {\n name: 'a' } }", "solver", {}, &solver);
  EXPECT_EQ("solver:1:1", FieldPlaceOf(solver.source(), "base_lr"));
  EXPECT_EQ("solver:2:13", PlaceText(solver.net_param().layer(0).source()));
}

TEST(Source, WithoutPlacesOnlyNamesAreSaid) {
  LayerParameter layer;
  layer.set_name("ip1");
  layer.set_type("InnerProduct");
  EXPECT_EQ("layer \"ip1\" (InnerProduct)", LayerPlace(layer));
  EXPECT_EQ("", FieldPlaceOf(layer, "type"));
}

TEST(Source, FailAtNamesPlaceAndLayer) {
  try {
    FailAt(Net(kText).layer(0), "convolution_param.num_output", "must be ", 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ("net:10:5: layer \"conv1\" (Convolution): must be 3", error.what());
  }
}

TEST(Source, StripSourceRemovesEveryPlace) {
  SolverParameter solver;
  ParseText("net_param { layer { name: 'a' } layers { name: 'b' } }", "solver", {}, &solver);
  StripSource(&solver);
  EXPECT_FALSE(solver.has_source());
  EXPECT_FALSE(solver.net_param().has_source());
  EXPECT_FALSE(solver.net_param().layer(0).has_source());
  EXPECT_FALSE(solver.net_param().layers(0).has_source());
  EXPECT_EQ("b", solver.net_param().layers(0).name());
}

}  // namespace
}  // namespace moka
