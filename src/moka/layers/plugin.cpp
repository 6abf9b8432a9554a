#include "moka/layers/plugin.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/layers/arriving.hpp"

namespace moka {
namespace {

using google::protobuf::Message;

using ArrivingParams = std::vector<std::pair<std::string, const Message*>>;

/// Where parameters go while a plug-in is loaded, else null; as with layers, nothing may be thrown.
ArrivingParams* arriving_params = nullptr;

std::string ProtobufVersion(int number) {
  return Text(number / 1000000, ".", number / 1000 % 1000, ".", number % 1000);
}

/// "moka 1.2.0 (interface 3) with protobuf 3.21.12, for CUDA".
std::string BuiltFor(const PluginMark& mark) {
  return Text("moka ", mark.version, " (interface ", mark.interface, ") with protobuf ",
              ProtobufVersion(mark.protobuf), mark.cxx11_abi ? "" : " and the old std::string",
              mark.cuda ? ", for CUDA" : ", without CUDA");
}

/// The mark in the bytes of a shared object, unchecked.
PluginMark FindMark(const std::string& bytes) {
  const size_t at = bytes.find(std::string(PluginMark::kBegin, sizeof(PluginMark::kBegin)));
  PluginMark mark("?");
  mark.name[0] = 0;
  if (at != std::string::npos && at + sizeof(mark) <= bytes.size()) {
    std::memcpy(&mark, bytes.data() + at, sizeof(mark));
  }
  mark.name[sizeof(mark.name) - 1] = mark.version[sizeof(mark.version) - 1] = 0;
  // The library, too, holds the bytes that it looks for, but no name and version after them.
  if (mark.name[0] > ' ' && std::isdigit(mark.version[0])) return mark;
  throw Error("is no plug-in of moka")
      .Hint(
          "a plug-in is a shared object with MOKA_PLUGIN(\"name\") in its sources: "
          "`moka help plugin`");
}

void CheckMark(const PluginMark& mark) {
  const std::string theirs = BuiltFor(mark), ours = BuiltFor(PluginMark("?"));
  if (theirs == ours) return;
  throw Error(Text("was built for ", theirs, "; this is ", ours)).Hint("compile it again");
}

/// The loader of shared objects does not check that a file is whole, and dies when it is not.
void CheckWhole(const std::string& bytes) {
  Elf64_Ehdr header;
  bool whole = bytes.size() >= sizeof(header) && StartsWith(bytes, ELFMAG);
  if (whole) std::memcpy(&header, bytes.data(), sizeof(header));
  for (int i = 0; whole && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const size_t at = header.e_phoff + i * sizeof(segment);
    whole = at + sizeof(segment) <= bytes.size();
    if (!whole) break;
    std::memcpy(&segment, bytes.data() + at, sizeof(segment));
    whole = segment.p_offset + segment.p_filesz <= bytes.size();
  }
  Require(whole, "is no whole shared object: was it built or copied to its end?");
}

/// protobuf ends the process when a second .proto file of one name is loaded: looks for them, as
/// descriptors hold them, before that happens.
void CheckProtoNames(const std::string& bytes) {
  std::vector<std::string> taken{LayerParameter::descriptor()->file()->name()};
  for (const std::string& field : PluginParams()) {
    taken.push_back(FindPluginParam(field)->GetDescriptor()->file()->name());
  }
  for (const std::string& name : taken) {
    const std::string described = Text('\x0a', static_cast<char>(name.size()), name);
    if (bytes.find(described) == std::string::npos) continue;
    throw Error(Text("brings a ", name, ", which is loaded already"))
        .Hint("moka.proto's messages are in moka; a plug-in's .proto needs a name of its own");
  }
}

std::map<std::string, std::string>& LoadedFiles() {
  static std::map<std::string, std::string> file_of_name;
  return file_of_name;
}

/// Why it cannot be loaded; empty if it is. Never unloaded: protobuf forgets no message.
std::string Open(const std::string& path) {
  const std::string absolute = std::filesystem::absolute(path).string();
  const void* handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? dlerror() : "";
}

void Load(const std::string& path) {
  const std::string bytes = ReadFile(path);
  const PluginMark mark = FindMark(bytes);
  CheckMark(mark);
  CheckWhole(bytes);
  const std::string file = std::filesystem::canonical(path).string();
  const auto known = LoadedFiles().find(mark.name);
  if (known != LoadedFiles().end()) {
    Require(known->second == file, "a plug-in \"", mark.name, "\" is loaded already, from ",
            known->second);
    return;
  }
  CheckProtoNames(bytes);
  ArrivingParams params;
  const std::vector<ArrivingLayer> layers = LayersArrivingDuring([&] {
    arriving_params = &params;
    const std::string reason = Open(path);
    arriving_params = nullptr;
    Require(reason.empty(), "cannot be loaded: ", reason);
  });
  Require(!layers.empty(), "registers no layer");
  CheckArriving(layers);
  for (const auto& [field, prototype] : params) RegisterPluginParam(field, *prototype);
  for (const ArrivingLayer& layer : layers) LayerRegistry::Get().Register(layer.info, layer.engine);
  LoadedFiles()[mark.name] = file;
}

}  // namespace

RegisterParamBase::RegisterParamBase(const std::string& field, const Message& prototype) {
  if (arriving_params != nullptr) {
    arriving_params->emplace_back(field, &prototype);
  } else {
    RegisterPluginParam(field, prototype);
  }
}

void LoadPlugins(const std::string& files) {
  for (const std::string& file : Split(files, ',')) {
    if (Trim(file).empty()) continue;
    try {
      Load(Trim(file));
    } catch (Error& error) {
      error.In("plug-in " + Trim(file));
      throw;
    }
  }
}

}  // namespace moka
