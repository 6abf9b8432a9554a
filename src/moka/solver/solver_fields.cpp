#include "moka/solver/solver_fields.hpp"

#include "moka/proto/source.hpp"

namespace moka {

bool IsSet(const SolverParameter& param, const std::string& name) {
  const auto* field = param.GetDescriptor()->FindFieldByName(name);
  return field->is_repeated() ? param.GetReflection()->FieldSize(param, field) > 0
                              : param.GetReflection()->HasField(param, field);
}

std::string GivenName(const SolverParameter& param, const std::string& first,
                      const std::string& second) {
  if (!IsSet(param, second)) return first;
  RequireField(!IsSet(param, first), param, second, second, " and ", first,
               " are two names of the same thing: give one of them");
  return second;
}

void ThrowAt(const SolverParameter& param, const std::string& field, Error error) {
  const std::string place = FieldPlaceOf(param.source(), field);
  if (!place.empty()) error.In(place);
  throw error;
}

}  // namespace moka
