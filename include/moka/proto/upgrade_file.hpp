#pragma once

#include <string>
#include <vector>

#include "moka/proto/text_reader.hpp"

namespace moka {

// Files of any age in today's form. The output is written whole or not at all, also where the input
// needed no upgrade, and may be the input itself. Each returns whether anything was changed, and
// appends what was done to `messages`. Throws Error where the input cannot be read or upgraded.

/// A net's prototxt; see UpgradeNet. Comments are lost.
bool UpgradeNetTextFile(const std::string& input, const std::string& output,
                        const TextOptions& options, std::vector<std::string>* messages);

/// A net's weights: a binary NetParameter (.caffemodel).
bool UpgradeNetBinaryFile(const std::string& input, const std::string& output,
                          std::vector<std::string>* messages);

/// A solver's prototxt; see UpgradeSolver.
bool UpgradeSolverTextFile(const std::string& input, const std::string& output,
                           const TextOptions& options, std::vector<std::string>* messages);

}  // namespace moka
