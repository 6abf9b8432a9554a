#pragma once

#include <functional>
#include <string>
#include <vector>

#include "moka/base/error.hpp"

namespace moka {

/// A mistake in the command line itself: the tool shows the message and exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A command of the tool. `moka help NAME` shows all but the last two.
struct Command {
  std::string name;
  /// A line for the list of commands.
  std::string summary;
  /// Under "usage": forms of the command line, a line each ("moka check FILE...").
  std::string usage;
  /// What it does, with examples; paragraphs of at most 100 columns.
  std::string description;
  /// The gflags that it takes, in the order of the help; --plugin and those of glog are taken
  /// everywhere.
  std::vector<std::string> flags;
  /// How many arguments that are no flags it takes at most.
  size_t max_arguments = 0;
  /// Gets those arguments; returns the exit status. Error ends the tool with status 1, UsageError
  /// with 2.
  std::function<int(const std::vector<std::string>& arguments)> run;

  static constexpr size_t kAnyNumber = 1 << 20;
};

/// Makes a command known at load time: one at namespace level in the command's file.
///
///     const RegisterCommand kRegistration({"version", "shows ...", "moka version", "", {}, 0,
///     Run});
class RegisterCommand {
 public:
  explicit RegisterCommand(const Command& command);
};

/// All commands by name.
const std::vector<Command>& Commands();

/// Throws UsageError that suggests the nearest name.
const Command& FindCommand(const std::string& name);

/// Sets the gflags given in `words` ("--flag=value", "-flag value", "--noflag") and returns the
/// words that are no flags; after "--" none is. Throws UsageError for a flag that does not exist,
/// with the nearest that `command` takes, and for a value of the wrong type. A flag that only
/// other commands take is ignored with a warning, as scripts written for Caffe may give some.
std::vector<std::string> ParseFlags(const Command& command, const std::vector<std::string>& words);

/// `--iterations=50`: the flag's description with its default, as `moka help` shows them.
std::string DescribeFlags(const std::vector<std::string>& flags);

}  // namespace moka
