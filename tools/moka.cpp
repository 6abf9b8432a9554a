// The command line: finds the command, sets its flags, and shows what goes wrong as one message.

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>

#include "commands/command.hpp"
#include "moka/layers/plugin.hpp"

DECLARE_string(plugin);

namespace moka {
namespace {

/// OpenMP's threads wait for work by spinning, by default so long that training takes several times
/// as long as soon as other processes want the cores. libgomp reads how long when it is loaded:
/// hence the program starts itself once more. What the user has set stays.
void LimitSpinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  execv("/proc/self/exe", argv);  // where that is not possible, everything still works
}

/// To stderr, as `I0131 12:00:00.000000 ...`; to files only where --log_dir asks for them.
void SetUpLogging(const char* program) {
  FLAGS_logtostderr = true;
  FLAGS_log_year_in_prefix = false;
  google::InitGoogleLogging(program);
}

bool IsGiven(const char* flag) {
  gflags::CommandLineFlagInfo info;
  return gflags::GetCommandLineFlagInfo(flag, &info) && !info.is_default;
}

void ChooseLogTarget() {
  if (FLAGS_log_dir.empty()) return;
  FLAGS_alsologtostderr = true;
  if (!IsGiven("logtostderr")) FLAGS_logtostderr = false;
}

/// From the environment first, so that --plugin=F may name the same again.
void LoadPluginsOfUser() {
  const char* always = std::getenv("MOKA_PLUGINS");
  if (always != nullptr) LoadPlugins(always);
  LoadPlugins(FLAGS_plugin);
}

int Dispatch(const std::vector<std::string>& words) {
  std::string name = words.empty() ? "help" : words[0];
  if (name == "--help" || name == "-help" || name == "-h") name = "help";
  if (name == "--version" || name == "-version") name = "version";
  const Command* command = &FindCommand(name);
  std::vector<std::string> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  for (const std::string& word : rest) {
    if (word != "--help" && word != "-help" && word != "-h") continue;
    rest = {name};
    command = &FindCommand("help");
    break;
  }
  const std::vector<std::string> arguments = ParseFlags(*command, rest);
  ChooseLogTarget();
  if (arguments.size() > command->max_arguments) {
    UsageError error(Text("`moka ", command->name, "` takes ",
                          command->max_arguments == 0 ? "no" : "fewer", " arguments: \"",
                          arguments[command->max_arguments], "\" is too much"));
    error.Hint("flags are written --name=value");
    throw error;
  }
  LoadPluginsOfUser();
  const int status = command->run(arguments);
  return words.empty() ? 2 : status;
}

/// The words of the command line. Under the name of a command, as Caffe's programs have them
/// (`convert_imageset ...`), the program is that command.
std::vector<std::string> WordsOf(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  const auto named = [&](const Command& command) { return command.name == name; };
  if (std::any_of(Commands().begin(), Commands().end(), named)) words.insert(words.begin(), name);
  return words;
}

int Complain(const char* message, int status) {
  std::cout.flush();
  std::cerr << "moka: " << message << std::endl;
  return status;
}

}  // namespace
}  // namespace moka

int main(int argc, char** argv) {
  moka::LimitSpinning(argv);
  moka::SetUpLogging(argv[0]);
  try {
    return moka::Dispatch(moka::WordsOf(argc, argv));
  } catch (const moka::UsageError& error) {
    return moka::Complain(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return moka::Complain("not enough memory", 1);
  } catch (const std::exception& error) {
    return moka::Complain(error.what(), 1);
  }
}
