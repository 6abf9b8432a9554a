// All bad nets of the original's kind of mistakes at once; the tests of the layers look closer at
// what the messages say.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "moka/base/strings.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// What moka takes, or refuses without a place, and why.
const std::set<std::string> kOthers = {
    // Sound in moka, see docs/differences.md.
    "softmaxloss_prob_top", "pool_stochastic_cpu", "hdf5output_forward_twice", "input_too_large",
    "accuracy_backward", "threshold_backward", "text_bom",
    // A missing clip_param has the defaults of its fields.
    "clip_without_param",
    // The bad number is an input: BatchReindexLayer.RefusesItemsThatAreNotThere.
    "reindex_out_of_range",
    // There is no layer to point to: see the tests of Net.
    "no_layers"};

/// Does what the first word of action.txt says: builds the net, then may run it on zeros.
void Act(const GoldenCase& golden) {
  NetParameter param;
  ReadTextFrom(golden.File(), "net.prototxt", &param);
  const std::string action = golden.File("action.txt");
  NetState state;
  state.set_phase(action.find("TRAIN") != std::string::npos ? TRAIN : TEST);
  Net net(param, state, std::make_shared<Context>("cpu", 1));
  if (StartsWith(action, "load")) return;
  for (Blob* input : net.inputs()) input->data().SetZero();
  net.Forward();
  if (StartsWith(action, "forward2")) net.Forward();
  if (StartsWith(action, "backward")) net.Backward();
}

class InvalidNets : public testing::TestWithParam<std::string> {};

// promise 3
TEST_P(InvalidNets, AreRefusedWithTheirPlace) {
  const GoldenCase golden("invalid", GetParam());
  const ScratchFolder folder;
  golden.Unpack(folder.path());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::string message;
  try {
    Act(golden);
  } catch (const Error& error) {
    message = error.what();
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(message.find("net.prototxt:"), 0u)
      << "reason: " << golden.File("reason.txt") << "message: " << message;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const std::string& name : GoldenNames("invalid")) {
    const GoldenCase golden("invalid", name);
    if (!golden.HasFile("net.prototxt") || kOthers.count(name)) continue;
    const std::string action = golden.File("action.txt");
    for (const char* known : {"load", "forward", "backward"}) {
      if (StartsWith(action, known)) names.push_back(name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, InvalidNets, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace moka
