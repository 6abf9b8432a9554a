#pragma once

#include <google/protobuf/stubs/common.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "moka/base/version.hpp"
#include "moka/proto/plugin_param.hpp"

namespace moka {

/// What a plug-in was built for. Its layout is fixed, for it is read from the file before any code
/// of the plug-in runs.
struct PluginMark {
  static constexpr char kBegin[] = "\x7fMOKA PLUG-IN";

  char begin[16] = {};
  char name[64] = {};
  char version[16] = {};
  /// Raised when a header that plug-ins are compiled against changes the layout of something.
  int32_t interface = 1;
  int32_t protobuf = GOOGLE_PROTOBUF_VERSION;
#ifdef _GLIBCXX_USE_CXX11_ABI
  int32_t cxx11_abi = _GLIBCXX_USE_CXX11_ABI;
#else
  int32_t cxx11_abi = 0;
#endif
#ifdef MOKA_CUDA
  int32_t cuda = 1;
#else
  int32_t cuda = 0;
#endif

  template <size_t N>
  explicit constexpr PluginMark(const char (&plugin)[N]) {
    static_assert(N > 1 && N <= sizeof(name), "a plug-in's name has 1 to 63 letters");
    Put(kBegin, begin);
    Put(plugin, name);
    Put(kVersion, version);
  }

 private:
  template <size_t N, size_t M>
  static constexpr void Put(const char (&text)[N], char (&to)[M]) {
    static_assert(N <= M, "the text does not fit");
    for (size_t i = 0; i < N; ++i) to[i] = text[i];
  }
};

/// Loads plug-ins, shared objects that register layers, from files separated by commas. A plug-in
/// that is loaded already is left alone. To be called before nets are made.
///
/// Throws Error, with the file's name, for a file that is not there, is no plug-in or was built for
/// another moka, and for layers or parameters whose names are taken; none of the plug-in's layers
/// is then known.
void LoadPlugins(const std::string& files);

/// Makes `field` a name for the parameters of layers, at load time: one object at namespace level
/// for each message. Texts may then have blocks `field { ... }`, which the layer reads with
/// PluginParam<Parameter>(param()).
///
///     const RegisterParam<MyParameter> kParam("my_param");
class RegisterParamBase {
 public:
  RegisterParamBase(const std::string& field, const google::protobuf::Message& prototype);
};

template <typename Parameter>
class RegisterParam : RegisterParamBase {
 public:
  explicit RegisterParam(const std::string& field)
      : RegisterParamBase(field, Parameter::default_instance()) {}
};

/// Once in a plug-in, at file scope: its name, which tells it from others.
#define MOKA_PLUGIN(name) \
  [[gnu::used]] static constexpr moka::PluginMark kMokaPlugin { name }

}  // namespace moka
