#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>

#include "command.hpp"
#include "moka/base/strings.hpp"

DEFINE_string(plugin, "", "shared objects with more layers, separated by commas");

namespace moka {
namespace {

using gflags::CommandLineFlagInfo;

/// What users of glog may want in any command.
const char* const kLogFlags[] = {"logtostderr", "alsologtostderr", "minloglevel",     "log_dir",
                                 "v",           "vmodule",         "stderrthreshold", "flagfile"};

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What every command takes besides.
constexpr char kPlugin[] = "plugin";

bool IsLogFlag(const std::string& name) {
  return std::find(std::begin(kLogFlags), std::end(kLogFlags), name) != std::end(kLogFlags);
}

bool TakenSomewhere(const std::string& name) {
  const auto takes = [&](const Command& command) { return Has(command.flags, name); };
  return IsLogFlag(name) || name == kPlugin ||
         std::any_of(Commands().begin(), Commands().end(), takes);
}

/// A flag as written: "--name=value", "--name", "--noname".
struct Written {
  std::string name;
  std::string value;
  bool has_value = false;
};

Written Take(const std::string& word) {
  Written flag;
  const size_t begin = word.find_first_not_of('-');
  const size_t equals = word.find('=');
  flag.name = word.substr(begin, equals == std::string::npos ? equals : equals - begin);
  std::replace(flag.name.begin(), flag.name.end(), '-', '_');
  flag.has_value = equals != std::string::npos;
  if (flag.has_value) flag.value = word.substr(equals + 1);
  return flag;
}

[[noreturn]] void FailUnknown(const Command& command, const Written& flag) {
  std::vector<std::string> shown;
  for (const std::string& name : command.flags) shown.push_back("--" + name);
  UsageError error(Text("unknown flag --", flag.name, DidYouMean("--" + flag.name, shown)));
  error.Hint(Text("`moka help ", command.name, "` lists the flags of the command"));
  throw error;
}

/// What a type of gflags is called in messages.
std::string Kind(const std::string& type) {
  if (type == "bool") return "true or false";
  if (type == "double") return "a number";
  return type == "string" ? "a text" : "a whole number";
}

bool IsFlag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

}  // namespace

std::vector<std::string> ParseFlags(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      arguments.insert(arguments.end(), words.begin() + i + 1, words.end());
      break;
    }
    if (!IsFlag(words[i])) {
      arguments.push_back(words[i]);
      continue;
    }
    Written flag = Take(words[i]);
    CommandLineFlagInfo info;
    bool known = gflags::GetCommandLineFlagInfo(flag.name.c_str(), &info);
    if (!known && StartsWith(flag.name, "no") && !flag.has_value &&
        gflags::GetCommandLineFlagInfo(flag.name.c_str() + 2, &info) && info.type == "bool") {
      flag = {info.name, "false", true};
      known = true;
    }
    if (!known || !TakenSomewhere(flag.name)) FailUnknown(command, flag);
    if (!flag.has_value) {
      if (info.type == "bool") {
        flag.value = "true";
      } else if (i + 1 < words.size() && !StartsWith(words[i + 1], "--")) {
        flag.value = words[++i];
      } else {
        throw UsageError(Text("--", flag.name, " needs a value: ", Kind(info.type)));
      }
    }
    if (flag.name == kPlugin) {  // may be given several times
      FLAGS_plugin += (FLAGS_plugin.empty() ? "" : ",") + flag.value;
    } else if (!IsLogFlag(flag.name) && !Has(command.flags, flag.name)) {
      LOG(WARNING) << "--" << flag.name << " means nothing to `moka " << command.name
                   << "` and is ignored";
    } else if (gflags::SetCommandLineOption(flag.name.c_str(), flag.value.c_str()).empty()) {
      throw UsageError(
          Text("--", flag.name, " takes ", Kind(info.type), ", not \"", flag.value, "\""));
    }
  }
  return arguments;
}

std::string DescribeFlags(const std::vector<std::string>& flags) {
  std::string text;
  for (const std::string& name : flags) {
    if (name == "device") continue;  // for tests only
    const CommandLineFlagInfo info = gflags::GetCommandLineFlagInfoOrDie(name.c_str());
    const std::string shown =
        info.type == "string" ? "\"" + info.default_value + "\"" : info.default_value;
    text += "  --" + name;
    if (info.default_value.empty()) {
      text += "=...";
    } else if (info.type != "bool" || info.default_value == "true") {
      text += "=" + shown;
    }
    text += "\n      " + info.description + "\n";
  }
  return text;
}

}  // namespace moka
