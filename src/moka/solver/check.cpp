#include "moka/solver/check.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/passes.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"
#include "moka/solver/check_nets.hpp"
#include "moka/solver/checked_text.hpp"
#include "moka/solver/solver_nets.hpp"

namespace moka {
namespace {

NetState StateOf(Phase phase, const CheckOptions& options) {
  NetState state;
  state.set_phase(phase);
  if (options.level != 0) state.set_level(options.level);
  for (const std::string& stage : options.stages) state.add_stage(stage);
  return state;
}

/// Whether the layer brings values into the net.
bool IsSource(const LayerParameter& layer) {
  return layer.bottom_size() == 0 && layer.type() != "Parameter";
}

/// Whether all that comes into the net comes from its caller.
bool IsDeployed(const NetParameter& net) {
  const auto is_input = [](const LayerParameter& layer) { return layer.type() == "Input"; };
  const auto is_quiet = [&](const LayerParameter& layer) {
    return !IsSource(layer) || is_input(layer);
  };
  return std::any_of(net.layer().begin(), net.layer().end(), is_input) &&
         std::all_of(net.layer().begin(), net.layer().end(), is_quiet);
}

/// The phases that a net is meant for: TEST for one that its caller feeds, else those in which
/// something comes in. A file for one phase alone often says it only in the layers of its data.
std::vector<Phase> PhasesOf(NetParameter net, const CheckOptions& options) {
  const std::vector<Phase> both = {TRAIN, TEST};
  std::vector<Phase> phases;
  try {
    std::vector<std::string> ignored;
    UpgradeNet(&net, &ignored);
    if (IsDeployed(net)) return {TEST};
    for (const Phase phase : both) {
      const NetParameter kept = FilterLayers(net, StateOf(phase, options));
      if (std::any_of(kept.layer().begin(), kept.layer().end(), IsSource)) phases.push_back(phase);
    }
  } catch (const Error&) {
    return both;  // the check of the net tells what is wrong
  }
  return phases.empty() ? both : phases;
}

/// The mistakes of the text and those found behind them, in the order of the text.
void AddTextProblems(const CheckedText& text, CheckResult* result) {
  for (const TextProblem& problem : text.problems()) {
    (problem.warning ? result->notes : result->problems).push_back(problem.ToString());
  }
}

void SortByPlace(const std::string& file, std::vector<std::string>* problems) {
  const auto line = [&](const std::string& problem) {
    return StartsWith(problem, file + ":") ? std::atoi(problem.c_str() + file.size() + 1) : 0;
  };
  std::stable_sort(problems->begin(), problems->end(),
                   [&](const auto& a, const auto& b) { return line(a) < line(b); });
}

void CheckNetFile(CheckedText* text, const CheckOptions& options, CheckResult* result) {
  NetParameter net;
  text->Parse(&net);
  AddTextProblems(*text, result);
  const NetDoubts doubts = text->Doubts(net);
  NetsCheck check;
  for (Phase phase : PhasesOf(net, options)) {
    check.Add(net, StateOf(phase, options), doubts);
  }
  const bool lost = !text->understood() && net.layer_size() + net.layers_size() == 0;
  if (!lost) check.Finish(result);
  SortByPlace(text->path(), &result->problems);
}

/// Checks a solver's own fields, then the nets that it names.
class SolverCheck {
 public:
  SolverCheck(CheckedText* text, const CheckOptions& options, CheckResult* result)
      : text_(*text), options_(options), result_(*result) {}

  void Run() {
    text_.Parse(&solver_);
    AddTextProblems(text_, &result_);
    bool sound = text_.understood();
    try {
      UpgradeSolver(&solver_);
    } catch (const Error& error) {
      sound = false;
      result_.problems.push_back(error.what());
    }
    if (sound) CheckSolver(solver_, &result_.problems);
    SolverNets nets;
    try {
      nets = FindNets(solver_, [this](const std::string& path, const std::string& field) {
        return Read(path, field);
      });
    } catch (const Error& error) {
      if (sound) result_.problems.push_back(error.what());
      nets = AssumedNets();
    }
    SortByPlace(text_.path(), &result_.problems);
    result_.summary =
        Text("solver ", solver_.type(), ", ", Grouped(solver_.max_iter()), " iterations");
    CheckNets(nets);
  }

 private:
  struct NetFile {
    std::unique_ptr<CheckedText> text;  // null if it cannot be read
    NetParameter net;
  };

  NetParameter Read(const std::string& path, const std::string& field) {
    const auto added = files_.emplace(path, NetFile());
    NetFile& file = added.first->second;
    if (!added.second) return file.net;
    try {
      file.text = std::make_unique<CheckedText>(path, options_.text);
      if (file.text->IsSolver()) {
        file.text = nullptr;
        Fail(path, ": this is a solver's prototxt, not a net's");
      }
      file.text->Parse(&file.net);
      AddTextProblems(*file.text, &net_result_);
    } catch (const MissingFile&) {
      result_.notes.push_back(Text(FieldPlaceOf(solver_.source(), field), ": net ", path,
                                   " is not here; only the solver itself was checked\n",
                                   "  paths are relative to the current folder, ",
                                   std::filesystem::current_path().string()));
    } catch (Error& error) {
      result_.problems.push_back(error.In(FieldPlaceOf(solver_.source(), field)).what());
    }
    file.net.mutable_source()->set_file(path);
    return file.net;
  }

  /// Where the solver's fields contradict, the nets are checked all the same.
  SolverNets AssumedNets() const {
    SolverNets nets;
    for (const auto& [path, file] : files_) {
      nets.test.push_back({file.net, StateOf(TRAIN, options_)});
      nets.test.push_back({file.net, StateOf(TEST, options_)});
    }
    return nets;
  }

  void CheckNets(const SolverNets& nets) {
    NetsCheck check;
    std::vector<NetSource> all = nets.test;
    if (nets.train.param.has_source()) all.insert(all.begin(), nets.train);
    for (const NetSource& source : all) {
      const auto file = files_.find(source.param.source().file());
      const CheckedText* text = file == files_.end() ? &text_ : file->second.text.get();
      if (text == nullptr) continue;
      const NetDoubts doubts = text->Doubts(source.param);
      check.Add(source.param, source.state, doubts);
    }
    if (!all.empty()) check.Finish(&net_result_);
    for (const auto& file : files_) SortByPlace(file.first, &net_result_.problems);
    result_.problems.insert(result_.problems.end(), net_result_.problems.begin(),
                            net_result_.problems.end());
    result_.notes.insert(result_.notes.end(), net_result_.notes.begin(), net_result_.notes.end());
    if (!net_result_.summary.empty()) result_.summary += ", " + net_result_.summary;
  }

  CheckedText& text_;
  const CheckOptions& options_;
  CheckResult& result_;
  CheckResult net_result_;
  SolverParameter solver_;
  std::map<std::string, NetFile> files_;
};

}  // namespace

CheckResult CheckFile(const std::string& path, const CheckOptions& options) {
  CheckResult result;
  try {
    CheckedText text(path, options.text);
    if (text.IsSolver()) {
      SolverCheck(&text, options, &result).Run();
    } else {
      CheckNetFile(&text, options, &result);
    }
  } catch (const Error& error) {
    result.problems.push_back(error.what());
  }
  return result;
}

}  // namespace moka
