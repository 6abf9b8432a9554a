#include "moka/solver/solver_nets.hpp"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/text_reader.hpp"
#include "moka/proto/upgrade.hpp"
#include "moka/solver/solver.hpp"
#include "moka/solver/solver_fields.hpp"

namespace moka {
namespace {

NetState StateOf(Phase phase, const NetParameter& net, const NetState* more) {
  NetState state;
  state.set_phase(phase);
  state.MergeFrom(net.state());
  if (more != nullptr) state.MergeFrom(*more);
  return state;
}

NetSource FindTrain(const SolverParameter& param, const NetReader& read) {
  const int ways =
      param.has_net() + param.has_net_param() + param.has_train_net() + param.has_train_net_param();
  if (ways != 1) {
    Error error(Text("the solver names ", ways, " training nets"));
    error.Hint("give exactly one of net, net_param, train_net, train_net_param");
    ThrowAt(param, param.has_train_net() ? "train_net" : "net", error);
  }
  NetSource train;
  if (param.has_net()) train.param = read(param.net(), "net");
  if (param.has_net_param()) train.param = param.net_param();
  if (param.has_train_net()) train.param = read(param.train_net(), "train_net");
  if (param.has_train_net_param()) train.param = param.train_net_param();
  train.state =
      StateOf(TRAIN, train.param, param.has_train_state() ? &param.train_state() : nullptr);
  return train;
}

std::vector<NetParameter> FindTest(const SolverParameter& param, const NetReader& read) {
  const int own = param.test_net_size() + param.test_net_param_size();
  const bool shared = param.has_net() || param.has_net_param();
  // Without test_iter there is no telling how often `net` is tested: once, or in each test_state.
  int count = param.test_iter_size();
  if (count == 0) {
    const bool tests = shared && own == 0 && param.test_interval() > 0;
    count = tests ? std::max(1, param.test_state_size()) : own;
  }
  RequireField(shared ? count >= own : count == own, param, "test_iter", "the solver has ", count,
               " test_iter for ", own, " test net(s): give each test net its test_iter");
  std::vector<NetParameter> nets(param.test_net_param().begin(), param.test_net_param().end());
  for (const std::string& file : param.test_net()) nets.push_back(read(file, "test_net"));
  while (static_cast<int>(nets.size()) < count) {
    nets.push_back(param.has_net() ? read(param.net(), "net") : param.net_param());
  }
  return nets;
}

}  // namespace

NetParameter ReadNet(const SolverParameter& param, const std::string& path,
                     const std::string& field, const TextOptions& options) {
  NetParameter net;
  try {
    ReadText(path, &net, options);
  } catch (MissingFile& error) {
    error.Hint("paths are relative to the current folder, " +
               std::filesystem::current_path().string());
    ThrowAt(param, field, error);
  }
  return net;
}

SolverNets FindNets(const SolverParameter& param, const NetReader& read) {
  SolverNets nets;
  nets.train = FindTrain(param, read);
  const std::vector<NetParameter> tests = FindTest(param, read);
  const int states = param.test_state_size();
  RequireField(states == 0 || states == static_cast<int>(tests.size()), param, "test_state",
               "the solver has ", states, " test_state for ", tests.size(),
               " test net(s): give one each, or none");
  for (size_t i = 0; i < tests.size(); ++i) {
    const NetState* more = states > 0 ? &param.test_state(static_cast<int>(i)) : nullptr;
    nets.test.push_back({tests[i], StateOf(TEST, tests[i], more)});
  }
  for (int i = 0; i < param.test_iter_size(); ++i) {
    RequireField(param.test_iter(i) > 0, param, Text("test_iter[", i, "]"), "test_iter is ",
                 param.test_iter(i), ", but must be at least 1");
  }
  const char* tested = param.test_iter_size() > 0 ? "test_iter" : "test_net";
  RequireField(tests.empty() || param.test_interval() > 0, param, tested,
               "the solver has test nets, but no test_interval says when to run them");
  RequireField(!tests.empty() || param.test_interval() == 0, param, "test_interval",
               "test_interval is set, but no test_net says what is tested");
  return nets;
}

SolverNets FindNets(const SolverParameter& param) {
  return FindNets(param, [&](const std::string& path, const std::string& field) {
    return ReadNet(param, path, field);
  });
}

uint64_t SeedOf(const SolverParameter& param) {
  if (param.random_seed() >= 0) return static_cast<uint64_t>(param.random_seed());
  const uint64_t seed = std::random_device()();
  LOG(INFO) << "random_seed: " << seed << " (drawn; set it to repeat this run)";
  return seed;
}

namespace {

/// Puts the nets in place of the names of their files.
void TakeInNets(SolverParameter* param, const TextOptions& options) {
  if (param->has_net()) *param->mutable_net_param() = ReadNet(*param, param->net(), "net", options);
  if (param->has_train_net()) {
    *param->mutable_train_net_param() = ReadNet(*param, param->train_net(), "train_net", options);
  }
  for (const std::string& file : param->test_net()) {
    *param->add_test_net_param() = ReadNet(*param, file, "test_net", options);
  }
  param->clear_net();
  param->clear_train_net();
  param->clear_test_net();
}

}  // namespace

SolverParameter ReadSolver(const std::string& path, const TextOptions& options) {
  SolverParameter param;
  ReadText(path, &param, options);
  UpgradeSolver(&param);
  if (options.lenient) TakeInNets(&param, options);
  const std::string stem = std::filesystem::path(path).replace_extension().string();
  std::error_code ignored;
  if (!param.has_snapshot_prefix()) {
    param.set_snapshot_prefix(stem);
  } else if (std::filesystem::is_directory(param.snapshot_prefix(), ignored)) {
    const auto name = std::filesystem::path(stem).filename();
    param.set_snapshot_prefix((std::filesystem::path(param.snapshot_prefix()) / name).string());
  }
  return param;
}

void PrepareSnapshots(const SolverParameter& param) {
  const std::filesystem::path folder = std::filesystem::path(param.snapshot_prefix()).parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder)) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Require(!error, "cannot make the folder ", folder.string(), " for snapshots: ", error.message());
}

}  // namespace moka
