#include "moka/proto/plugin_param.hpp"

#include <gtest/gtest.h>

#include "moka/base/error.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

/// The message of a plug-in's layer stands in here: one that moka has for other things.
class PluginParamText : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RegisterPluginParam("plugged_param", FillerParameter::default_instance());
  }

  static std::string Problems(const std::string& text) {
    NetParameter net;
    std::string all;
    for (const TextProblem& problem : ParseText(text, "net", {}, &net)) {
      all += problem.ToString() + "\n";
    }
    return all;
  }
};

const char kText[] =
    "layer {\n"
    "  name: \"a\"\n"
    "  plugged_param {\n"
    "    type: \"xavier\"\n"
    "    value: 2.5\n"
    "  }\n"
    "}\n";

TEST_F(PluginParamText, IsReadAndKeptInBinaryFilesAndWritten) {
  NetParameter net, copy;
  ReadTextFrom(kText, "net", &net);
  ASSERT_TRUE(copy.ParseFromString(net.SerializeAsString()));
  const LayerParameter& layer = copy.layer(0);
  EXPECT_EQ(PluginParam<FillerParameter>(layer).value(), 2.5f);
  EXPECT_EQ(PluginParam<FillerParameter>(layer).type(), "xavier");
  EXPECT_EQ(FieldPlaceOf(layer, "plugged_param.value"), "net:5:5");
  EXPECT_EQ(ToText(copy), kText);
}

TEST_F(PluginParamText, HasDefaultsWhereTheLayerSaysNothing) {
  EXPECT_EQ(PluginParam<FillerParameter>(LayerParameter()).type(), "constant");
}

TEST_F(PluginParamText, SaysWhereMistakesAre) {
  EXPECT_EQ(Problems("layer { plugged_param {\n valve: 1 } }"),
            "net:2:2: unknown field \"valve\" in FillerParameter (did you mean \"value\"?)\n");
  EXPECT_EQ(Problems("layer { plugged_param { } plugged_param { } }"),
            "net:1:27: \"plugged_param\" is given twice in this LayerParameter\n");
  EXPECT_EQ(Problems("layer { plugged_param: 3 }"),
            "net:1:9: \"{\" missing after \"plugged_param\"\n");
  EXPECT_NE(Problems("layer { pluged_param { } }").find("did you mean \"plugged_param\""),
            std::string::npos);
  EXPECT_NE(Problems("plugged_param { }").find("unknown field"), std::string::npos);
  EXPECT_NE(Problems("layer { plugged_param {").find("is never closed"), std::string::npos);
}

TEST_F(PluginParamText, OfAPluginThatIsNotThereStaysAsItIs) {
  NetParameter net, again;
  PluginParameter* param = net.add_layer()->add_plugin_param();
  param->set_field("absent_param");
  param->set_type("absent.Parameter");
  param->set_value("\x08\x01");
  ReadTextFrom(ToText(net), "net", &again);
  StripSource(&again);
  EXPECT_EQ(again.SerializeAsString(), net.SerializeAsString());
}

TEST_F(PluginParamText, RefusesNamesThatAreTaken) {
  EXPECT_THROW(RegisterPluginParam("relu_param", FillerParameter::default_instance()), Error);
  EXPECT_THROW(RegisterPluginParam("plugged_param", BlobShape::default_instance()), Error);
  EXPECT_NO_THROW(RegisterPluginParam("plugged_param", FillerParameter::default_instance()));
}

}  // namespace
}  // namespace moka
