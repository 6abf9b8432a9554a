#include "moka/layers/plugin.hpp"

#include <gtest/gtest.h>

#include "moka/base/error.hpp"
#include "moka/layers/arriving.hpp"

namespace moka {
namespace {

// What needs a real plug-in is in cli/plugin_test.sh.

std::vector<ArrivingLayer> Arriving(const std::vector<std::string>& types) {
  return LayersArrivingDuring([&] {
    for (const std::string& type : types) {
      LayerRegistry::Get().Register(LayerInfo(type), LayerEngine());
    }
  });
}

std::string WhyRefused(const std::vector<std::string>& types) {
  try {
    CheckArriving(Arriving(types));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ArrivingLayers, AreRefusedWhereATypeIsTaken) {
  EXPECT_EQ(WhyRefused({"NotThere", "ReLU"}), "there is a layer \"ReLU\" already");
  EXPECT_EQ(WhyRefused({"NotThere", "NotThere"}), "there is a layer \"NotThere\" already");
  EXPECT_EQ(WhyRefused({"NotThere", "NorHere"}), "");
}

TEST(ArrivingLayers, AreNotRegisteredYet) {
  EXPECT_EQ(Arriving({"NotThere"}).size(), 1u);
  EXPECT_EQ(LayerRegistry::Get().Find("NotThere"), nullptr);
  EXPECT_THROW(LayersArrivingDuring([] { Fail("no such symbol"); }), Error);
  EXPECT_EQ(Arriving({"NotThere"}).size(), 1u);
}

TEST(LoadPlugins, SkipsEmptyNames) { EXPECT_NO_THROW(LoadPlugins(" , ")); }

}  // namespace
}  // namespace moka
