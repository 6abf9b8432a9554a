#include "command.hpp"

#include <algorithm>

#include "moka/base/strings.hpp"

namespace moka {
namespace {

std::vector<Command>& Registry() {
  static std::vector<Command> commands;
  return commands;
}

}  // namespace

RegisterCommand::RegisterCommand(const Command& command) {
  std::vector<Command>& commands = Registry();
  const auto after = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& other) { return command.name < other.name; });
  commands.insert(after, command);
}

const std::vector<Command>& Commands() { return Registry(); }

const Command& FindCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  UsageError error(Text("unknown command \"", name, "\"", DidYouMean(name, names)));
  error.Hint("`moka help` lists all commands");
  throw error;
}

}  // namespace moka
