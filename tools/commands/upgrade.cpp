// moka upgrade_*: files of any age in today's form, as Caffe's programs of these names do.
#include <glog/logging.h>

#include "common.hpp"
#include "moka/proto/upgrade_file.hpp"

namespace moka {
namespace {

using Messages = std::vector<std::string>;
using Upgrade = bool (*)(const std::string& input, const std::string& output, Messages* messages);

Command MakeCommand(const std::string& name, const std::string& summary, const std::string& what,
                    Upgrade upgrade) {
  Command command;
  command.name = name;
  command.summary = summary;
  command.usage = "moka " + name + " INPUT OUTPUT";
  command.description =
      "OUTPUT is written whole or not at all, also where INPUT needs no upgrade; it may be INPUT\n"
      "itself. Comments are lost. The program is also there under the name " +
      name + ".\n\nexample:\n  moka " + name + " old.prototxt new.prototxt";
  command.flags = {"lenient"};
  command.max_arguments = 2;
  command.run = [name, what, upgrade](const std::vector<std::string>& files) {
    if (files.size() < 2) {
      throw UsageError("`moka " + name + "` needs two files: the input and the output");
    }
    Messages messages;
    const bool changed = upgrade(files[0], files[1], &messages);
    for (const std::string& message : messages) LOG(WARNING) << message;
    if (!changed) LOG(ERROR) << "File already in latest proto format: " << files[0];
    LOG(INFO) << "Wrote upgraded " << what << " to " << files[1];
    return 0;
  };
  return command;
}

const RegisterCommand kNetText(MakeCommand(
    "upgrade_net_proto_text", "writes a net's prototxt in today's form", "NetParameter text proto",
    [](const std::string& input, const std::string& output, Messages* messages) {
      return UpgradeNetTextFile(input, output, TextOptionsFromFlags(), messages);
    }));

const RegisterCommand kNetBinary(MakeCommand("upgrade_net_proto_binary",
                                             "writes a caffemodel in today's form",
                                             "NetParameter binary proto", UpgradeNetBinaryFile));

const RegisterCommand kSolverText(
    MakeCommand("upgrade_solver_proto_text", "writes a solver's prototxt in today's form",
                "SolverParameter text proto",
                [](const std::string& input, const std::string& output, Messages* messages) {
                  return UpgradeSolverTextFile(input, output, TextOptionsFromFlags(), messages);
                }));

}  // namespace
}  // namespace moka
