#include "moka/solver/check_nets.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/passes.hpp"
#include "moka/proto/source.hpp"
#include "moka/proto/upgrade.hpp"

namespace moka {
namespace {

void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::count(texts->begin(), texts->end(), text) == 0) texts->push_back(text);
}

/// The text behind the place, without numbers and hints: a mistake may be told with other sizes in
/// another phase.
std::string WithoutNumbers(const std::string& text, const std::string& file) {
  size_t begin = StartsWith(text, file + ":") ? text.find(": ", file.size()) : 0;
  std::string rest;
  for (; begin < text.size() && text[begin] != '\n'; ++begin) {
    if (!std::isdigit(static_cast<unsigned char>(text[begin]))) rest += text[begin];
  }
  return rest;
}

/// `layer "ip1" (InnerProduct): `, if the text names one.
std::string LayerTag(const std::string& text) {
  const size_t begin = text.find("layer \"");
  const size_t end = text.find("): ", begin);
  return begin == std::string::npos || end == std::string::npos
             ? ""
             : text.substr(begin, end + 3 - begin);
}

bool HasLayer(const Net& net, const std::string& tag) {
  const auto& layers = net.param().layer();
  return std::any_of(layers.begin(), layers.end(), [&](const LayerParameter& layer) {
    return StartsWith(tag, "layer \"" + layer.name() + "\" ");
  });
}

int64_t CountParams(const Net& net) {
  int64_t count = 0;
  for (const LearnableParam& param : net.learnable_params()) count += param.blob->count();
  return count;
}

/// The layers of the description, without the splits that the net adds.
int CountLayers(const Net& net) {
  const auto& layers = net.param().layer();
  return static_cast<int>(
      std::count_if(layers.begin(), layers.end(), [](const LayerParameter& layer) {
        return layer.type() != "Split" || layer.name().find("_split") == std::string::npos;
      }));
}

bool AllBuilt(const Net& net) {
  return static_cast<int>(net.layers().size()) == net.param().layer_size();
}

}  // namespace

bool NetsCheck::Prepare(NetParameter* net, const NetDoubts& doubts) {
  const std::string file = net->source().file();
  try {
    UpgradeNet(net, &notes_);
  } catch (const Error& error) {
    if (!doubts.any) Report(file, error.what(), built_.size());
    return false;
  }
  for (LayerParameter& layer : *net->mutable_layer()) {
    NetParameter alone;
    *alone.add_layer() = layer;
    try {
      FilterLayers(alone, NetState());
    } catch (const Error& error) {
      Report(file, error.what(), built_.size());
      layer.clear_exclude();
    }
  }
  return true;
}

void NetsCheck::Add(const NetParameter& net, const NetState& state, const NetDoubts& doubts) {
  NetParameter prepared = net;
  if (!Prepare(&prepared, doubts)) return;
  const std::string file = net.source().file();
  NetState merged = net.state();
  merged.MergeFrom(state);
  if (FilterLayers(prepared, merged).layer_size() == 0) {
    empty_.push_back(Text(file, ": ",
                          net.layer_size() + net.layers_size() > 0
                              ? "no layer belongs to the net in phase " + Phase_Name(state.phase())
                              : "the net has no layers"));
    return;
  }
  std::vector<std::string> problems, notes;
  NetOptions options;
  options.fill_params = false;
  options.problems = &problems;
  options.notes = &notes;
  options.doubts = &doubts;
  const auto context = std::make_shared<Context>("cpu", 1);
  std::unique_ptr<Net> built;
  try {
    built = std::make_unique<Net>(prepared, state, context, options);
  } catch (const Error& error) {
    problems.push_back(error.what());
  }
  for (const std::string& problem : problems) Report(file, problem, built_.size());
  for (const std::string& note : notes) AddOnce(note, &notes_);
  if (built) built_.push_back({file, state.phase(), std::move(built)});
}

void NetsCheck::Report(const std::string& file, const std::string& text, size_t net) {
  Problem problem;
  problem.text = text;
  problem.file = file;
  problem.nets = {net};
  if (StartsWith(text, file + ":")) {
    std::sscanf(text.c_str() + file.size(), ":%d:%d", &problem.line, &problem.column);
  }
  for (Problem& known : problems_) {
    if (std::tie(known.file, known.line, known.column) !=
            std::tie(problem.file, problem.line, problem.column) ||
        WithoutNumbers(known.text, file) != WithoutNumbers(text, file)) {
      continue;
    }
    if (known.nets.back() == net) {
      if (known.text != text) continue;
    } else {
      known.nets.push_back(net);
    }
    return;
  }
  problems_.push_back(problem);
}

/// Names the phase where another phase has the layer, too, but not the problem.
std::string NetsCheck::WithPhase(const Problem& problem) const {
  const std::string tag = LayerTag(problem.text);
  if (tag.empty() || problem.nets.size() != 1 || problem.nets[0] >= built_.size()) {
    return problem.text;
  }
  const Built& has_it = built_[problem.nets[0]];
  for (const Built& other : built_) {
    if (&other == &has_it || other.file != has_it.file || !HasLayer(*other.net, tag)) continue;
    std::string text = problem.text;
    return text.insert(text.find(tag) + tag.size(), "in " + Phase_Name(has_it.phase) + ": ");
  }
  return problem.text;
}

std::string NetsCheck::Summary() const {
  const Net& first = *built_.front().net;
  std::vector<std::string> counts;
  std::map<int, std::vector<std::string>> phases;
  std::vector<int> order;
  bool complete = true;
  for (const Built& built : built_) {
    std::vector<std::string>& same = phases[CountLayers(*built.net)];
    if (same.empty()) order.push_back(CountLayers(*built.net));
    AddOnce(Phase_Name(built.phase), &same);
    complete = complete && AllBuilt(*built.net);
  }
  for (int count : order) {
    counts.push_back(Text(count,
                          !counts.empty() ? " in "
                          : count == 1    ? " layer in "
                                          : " layers in ",
                          Join(phases[count], " and ")));
  }
  return Text("net \"", first.name(), "\": ", Join(counts, ", "), ", ",
              complete ? Grouped(CountParams(first)) + " params"
                       : "shapes behind missing data not checked");
}

void NetsCheck::Finish(CheckResult* result) {
  if (built_.empty() && problems_.empty()) {
    if (!empty_.empty()) result->problems.push_back(empty_[0]);
  }
  const bool sound = problems_.empty() && notes_.empty();
  for (size_t i = 1; sound && i < built_.size(); ++i) {
    try {
      built_[i].net->ShareParamsWith(*built_[0].net);
    } catch (const Error& error) {
      Report(built_[i].file, error.what(), i);
    }
  }
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  for (const Problem& problem : problems_) result->problems.push_back(WithPhase(problem));
  for (const std::string& note : notes_) AddOnce(note, &result->notes);
  if (!built_.empty()) {
    result->summary += (result->summary.empty() ? "" : "; ") + Summary();
  }
}

}  // namespace moka
