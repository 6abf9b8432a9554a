#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/solver/check.hpp"

namespace moka {

/// Builds a solver's nets, or one net in several states, and gathers what is wrong with them: what
/// several of them share is said once.
class NetsCheck {
 public:
  /// Builds the net, unless it has no layers in `state`.
  void Add(const NetParameter& net, const NetState& state, const NetDoubts& doubts);

  /// Compares the params of the nets, and adds all that was found to `result`.
  void Finish(CheckResult* result);

 private:
  struct Built {
    std::string file;
    Phase phase;
    std::unique_ptr<Net> net;
  };

  /// A problem, and the nets that have it.
  struct Problem {
    std::string text;
    std::string file;
    int line = 0;
    int column = 0;
    std::vector<size_t> nets;
  };

  bool Prepare(NetParameter* net, const NetDoubts& doubts);
  void Report(const std::string& file, const std::string& text, size_t net);
  std::string WithPhase(const Problem& problem) const;
  std::string Summary() const;

  std::vector<Built> built_;
  std::vector<Problem> problems_;
  std::vector<std::string> notes_;
  std::vector<std::string> empty_;  // what is said of states without layers
};

}  // namespace moka
