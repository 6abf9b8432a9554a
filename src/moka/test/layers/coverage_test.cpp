#include <gtest/gtest.h>

#include <filesystem>

#include "moka/base/atomic_file.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/registry.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// All that tests of layers say, and the golden nets.
std::string AllCases() {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("src/moka/test")) {
    if (entry.path().extension() == ".cpp") text += ReadFile(entry.path().string());
  }
  for (const char* group : {"act", "conv", "data", "linear", "loss", "norm", "pool", "shape"}) {
    for (const GoldenCase& golden : GoldenCases(group)) {
      if (golden.HasFile("net.prototxt")) text += golden.File();
    }
  }
  return text;
}

TEST(Coverage, EveryLayerTypeHasACase) {
  const std::string cases = AllCases();
  std::vector<std::string> without;
  for (const std::string& type : LayerRegistry::Get().Types()) {
    const bool named = cases.find("type: '" + type + "'") != std::string::npos ||
                       cases.find("type: \"" + type + "\"") != std::string::npos;
    if (!named) without.push_back(type);
  }
  EXPECT_EQ(Join(without, ", "), "") << "layers without a test";
}

}  // namespace
}  // namespace moka
