#pragma once

#include <string>
#include <vector>

#include "moka/proto/text_reader.hpp"

namespace moka {

struct CheckOptions {
  TextOptions text;
  /// The level and the stages of the nets' states.
  int level = 0;
  std::vector<std::string> stages;
};

/// What was found in a file. Each entry begins with a place where there is one and may go on with
/// indented lines that say what to do.
struct CheckResult {
  /// Mistakes, in the order of the text; those of a solver's nets behind its own.
  std::vector<std::string> problems;
  /// What is worth saying, and data that is not there, so that shapes behind it are unknown.
  std::vector<std::string> notes;
  /// `net "LeNet": 9 layers in TRAIN and TEST, 431,080 params`.
  std::string summary;
};

/// Checks a net or a solver with its nets; which of them the file is, its fields tell. Finds all
/// mistakes at once: of the text, of the solver's fields, and of the nets, which are built in the
/// phases TRAIN and TEST (a net that only its caller feeds, in TEST) without filling params and
/// without reading more than the first records of databases. A mistake hides those that may only
/// follow from it.
///
/// Nothing that stands in the file makes it throw.
CheckResult CheckFile(const std::string& path, const CheckOptions& options = CheckOptions());

}  // namespace moka
