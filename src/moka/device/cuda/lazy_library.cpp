#include <dlfcn.h>

#include "moka/base/error.hpp"

/// Finds a function of a library that is loaded only now, at its first call (see
/// scripts/lazy_libraries.sh). Throws Error when the library or the function is missing.
extern "C" void* MokaBind(const char* library, const char* function) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* address = handle == nullptr ? nullptr : dlsym(handle, function);
  if (address == nullptr) {
    throw moka::Error(moka::Text("cannot load ", function, ": ", dlerror()))
        .Hint("put the folder that holds it into LD_LIBRARY_PATH, or run on the cpu");
  }
  return address;
}
