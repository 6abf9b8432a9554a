#include <iostream>

#include "command.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

void ShowOverview() {
  std::cout << "moka trains, tests and times neural networks described by prototxt files.\n\n"
               "usage: moka COMMAND [--flag=value ...] [argument ...]\n\ncommands:\n";
  for (const Command& command : Commands()) {
    std::string name = command.name;
    name.resize(14, ' ');
    std::cout << "  " << name << command.summary << "\n";
  }
}

void ShowCommand(const Command& command) {
  std::cout << command.name << ": " << command.summary << "\n\nusage:\n";
  for (const std::string& line : Split(command.usage, '\n')) std::cout << "  " << line << "\n";
  if (!command.description.empty()) std::cout << "\n" << command.description << "\n";
  if (!command.flags.empty()) std::cout << "\nflags:\n" << DescribeFlags(command.flags);
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    ShowOverview();
  } else {
    ShowCommand(FindCommand(arguments[0]));
  }
  return 0;
}

const RegisterCommand kRegistration(
    {"help", "shows how to use a command", "moka help [COMMAND]", "", {}, 1, Run});

}  // namespace
}  // namespace moka
