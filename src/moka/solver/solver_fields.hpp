#pragma once

#include <string>

#include "moka/base/error.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// Whether the solver sets the field of that name; a repeated one is set when it has entries.
bool IsSet(const SolverParameter& param, const std::string& field);

/// The value of whichever of two names of the same thing is set, of `first` if none is. Throws
/// Error where both are.
std::string GivenName(const SolverParameter& param, const std::string& first,
                      const std::string& second);

/// Throws `error` with the place of the solver's field in front, where it is known.
[[noreturn]] void ThrowAt(const SolverParameter& param, const std::string& field, Error error);

/// As Require, with the place of the solver's field in front of the message.
template <typename... Parts>
void RequireField(bool condition, const SolverParameter& param, const std::string& field,
                  const Parts&... parts) {
  if (!condition) ThrowAt(param, field, Error(Text(parts...)));
}

}  // namespace moka
