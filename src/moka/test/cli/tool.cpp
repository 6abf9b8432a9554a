#include "moka/test/cli/tool.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

namespace moka {

ToolRun RunTool(const std::string& arguments) {
  const char* tool = std::getenv("MOKA");
  const std::string command =
      std::string(tool != nullptr ? tool : "build/tools/moka") + " " + arguments + " 2>&1";
  ToolRun run;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return run;
  char part[4096];
  for (size_t size; (size = std::fread(part, 1, sizeof part, pipe)) > 0;) {
    run.output.append(part, size);
  }
  const int status = pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

}  // namespace moka
