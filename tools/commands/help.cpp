#include <gflags/gflags.h>

#include <iostream>

#include "command.hpp"
#include "help_layer.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/schema_doc.hpp"
#include "table.hpp"

namespace moka {
namespace {

/// What builds a plug-in for this moka.
std::string PluginCommand() {
  const std::string proto = "protoc -I. -I INCLUDE --cpp_out=. my_layers.proto\n  ";
#ifdef MOKA_CUDA
  return proto +
         "g++ -fPIC -O2 -std=c++17 -I. -I INCLUDE -c my_layers.pb.cc\n"
         "  nvcc -shared -x cu -std=c++17 -O3 --expt-relaxed-constexpr -DMOKA_CUDA -arch=native "
         "\\\n"
         "    -cudart shared -Xcompiler -fPIC,-fopenmp,-march=native -I. -I INCLUDE my_layer.cpp "
         "\\\n"
         "    -Xlinker my_layers.pb.o -o my_layers.so";
#else
  return proto +
         "g++ -shared -fPIC -std=c++17 -O3 -march=native -fopenmp -I. -I INCLUDE \\\n"
         "    my_layer.cpp my_layers.pb.cc -o my_layers.so";
#endif
}

void ShowOverview() {
  std::cout << "moka trains, tests and times neural networks that prototxt files describe.\n\n"
               "usage: moka COMMAND [--flag=value ...] [argument ...]\n\ncommands:\n";
  Table commands("ll");
  for (const Command& command : Commands()) commands.Add({"  " + command.name, command.summary});
  std::cout << commands.ToString()
            << "\nto begin with:\n"
               "  moka check net.prototxt                 finds what is wrong in a file\n"
               "  moka train --solver=solver.prototxt     trains\n"
               "  moka help train                         flags and examples of a command\n"
               "  moka help layers                        the layer types there are\n"
               "  moka help layer Pooling                 what a layer type does, its fields\n"
               "  moka help fields SolverParameter        the fields of a message\n"
               "  moka help plugin                        how to bring layers of your own\n"
               "\nEvery command takes --plugin=FILE[,FILE...], as does MOKA_PLUGINS in the "
               "environment.\n";
}

void ShowPlugins() {
  std::cout << "A plug-in is a shared object with layers of your own, and parameters of their own, "
               "for any\n"
               "command:\n\n"
               "  moka train --plugin=my_layers.so --solver=solver.prototxt\n"
               "  MOKA_PLUGINS=my_layers.so moka help layers\n\n"
               "It is one or more layer files, a .proto with their parameters and one line\n"
               "MOKA_PLUGIN(\"my_layers\"); built for this moka, with its headers in INCLUDE:\n\n"
            << Text("  ", PluginCommand(), "\n\n")
            << "The example is in examples/plugin_layer, the whole story in docs/plugins.md.\n";
}

void ShowCommand(const Command& command) {
  std::cout << "moka " << command.name << ": " << command.summary << "\n\nusage:\n";
  for (const std::string& line : Split(command.usage, '\n')) std::cout << "  " << line << "\n";
  if (!command.description.empty()) std::cout << "\n" << command.description << "\n";
  std::cout << (command.flags.empty() ? "" : "\nflags:\n") << DescribeFlags(command.flags);
}

int Run(const std::vector<std::string>& arguments) {
  const std::string topic = arguments.empty() ? "" : arguments[0];
  if (topic == "layers") {
    std::cout << ListLayers();
  } else if (topic == "layer" || topic == "fields") {
    if (arguments.size() < 2) {
      throw UsageError(Text("`moka help ", topic, "` needs a name, of a ",
                            topic == "layer" ? "layer type: `moka help layers` lists them"
                                             : "message such as LayerParameter"));
    }
    std::cout << (topic == "layer" ? DescribeLayer(arguments[1]) : DescribeMessage(arguments[1]));
  } else if (topic == "plugin" && arguments.size() == 1) {
    ShowPlugins();
  } else if (arguments.size() > 1) {
    throw UsageError(Text("unknown topic \"", Join(arguments, " "), "\"",
                          DidYouMean(topic, {"layer", "fields"})));
  } else if (topic.empty()) {
    ShowOverview();
  } else {
    ShowCommand(FindCommand(topic));
  }
  return 0;
}

const RegisterCommand kRegistration({"help",
                                     "shows how to use commands, layers and fields",
                                     "moka help [COMMAND]\n"
                                     "moka help layers\n"
                                     "moka help layer TYPE\n"
                                     "moka help fields MESSAGE\n"
                                     "moka help plugin",
                                     "Layers and fields are described by what is built in, so that "
                                     "the text is always that\nof this version.",
                                     {},
                                     2,
                                     Run});

}  // namespace
}  // namespace moka
