#pragma once

#include <string>

namespace moka {

/// What a run of build/tools/moka (or $MOKA) gave.
struct ToolRun {
  int status = -1;
  std::string output;  // stdout and stderr together
};

/// Runs `moka ARGUMENTS` through the shell.
ToolRun RunTool(const std::string& arguments);

}  // namespace moka
