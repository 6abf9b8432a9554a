#include "moka/test/layers/data_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/net.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

/// A case in its folder, with the databases, means and pictures beside it that it refers to. The
/// current folder is the case's as long as this lives.
class CaseFolder {
 public:
  explicit CaseFolder(const GoldenCase& golden, const std::string& group)
      : before_(std::filesystem::current_path()) {
    std::string text;
    for (const std::string& file : golden.Files()) {
      if (EndsWith(file, ".prototxt") || EndsWith(file, ".txt")) text += golden.File(file);
    }
    const std::regex other("((db|mean)_[a-z0-9_]+|images)/");
    std::set<std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), other), end; match != end; ++match) {
      names.insert((*match)[1]);
    }
    for (const std::string& name : names) {
      GoldenCase("data", name).Unpack(folder_ / ("data/" + name));
    }
    const std::string own = folder_ / (group + "/" + golden.name());
    golden.Unpack(own);
    std::filesystem::current_path(own);
  }
  ~CaseFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
  ScratchFolder folder_;
};

/// The net of the case, whose folder is the current one.
std::unique_ptr<Net> MakeNet(const std::string& device) {
  NetParameter param;
  ReadText("net.prototxt", &param);
  NetState state;
  state.set_phase(TEST);
  return std::make_unique<Net>(param, state, std::make_shared<Context>(device, 2));
}

void RunAction(const std::string& action) {
  const std::unique_ptr<Net> net = MakeNet("cpu");
  if (StartsWith(action, "forward")) net->Forward();
}

}  // namespace

void CheckBatches(const std::string& name, const std::string& device) {
  const GoldenCase golden("data", name);
  const CaseFolder folder(golden, "data");
#ifndef MOKA_LEVELDB
  if (StartsWith(name, "data_leveldb")) GTEST_SKIP() << "built without LevelDB";
#endif
  const std::unique_ptr<Net> net = MakeNet(device);
  const size_t batches = golden.Arrays("batch").size() / net->blobs().size();
  ASSERT_GT(batches, 0u);
  for (size_t k = 0; k < batches; ++k) {
    net->Forward();
    for (const auto& blob : net->blobs()) {
      const std::string path = Text("batch/", k, "/", blob->name());
      const FloatArray expected = golden.Array(path);
      ASSERT_EQ(blob->shape(), Shape(expected.shape)) << path;
      const float* values = blob->data().Read();
      EXPECT_TRUE(std::equal(expected.data.begin(), expected.data.end(), values)) << path;
    }
  }
}

void ExpectRefused(const std::string& name, const std::vector<std::string>& parts) {
  const GoldenCase golden("invalid", name);
  const CaseFolder folder(golden, "invalid");
  try {
    RunAction(golden.File("action.txt"));
    FAIL() << "no error for " << golden.File("reason.txt");
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("net.prototxt:1:1: layer \"data\" ("), 0u) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
    }
  }
}

}  // namespace moka
