#include "moka/proto/hdf5_handle.hpp"

#include <algorithm>
#include <cstring>

#include "moka/base/error.hpp"

namespace moka {
namespace {

std::recursive_mutex& Mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t KeepInnermost(unsigned /*level*/, const H5E_error2_t* error, void* reason) {
  auto* text = static_cast<std::string*>(reason);
  if (text->empty() && error->desc != nullptr) *text = error->desc;
  return 0;
}

std::string FixedString(const char* bytes, size_t size, H5T_str_t padding) {
  std::string value(bytes, strnlen(bytes, size));
  if (padding == H5T_STR_SPACEPAD) value.erase(value.find_last_not_of(' ') + 1);
  return value;
}

}  // namespace

Hdf5Lock::Hdf5Lock() : guard_(Mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string Hdf5Reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, KeepInnermost, &reason);
  // Of "file write failed: time = ..., errno = 28, error message = 'No space left on device', ..."
  // the system's words are enough.
  const std::string mark = "error message = '";
  const size_t begin = reason.find(mark);
  if (begin != std::string::npos) {
    reason.erase(0, begin + mark.size());
    reason.erase(std::min(reason.find('\''), reason.size()));
  }
  return reason.empty() ? "unknown HDF5 error" : reason;
}

std::vector<int64_t> Hdf5Shape(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  std::vector<hsize_t> dims(H5Sget_simple_extent_ndims(space));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  return std::vector<int64_t>(dims.begin(), dims.end());
}

Hdf5Handle Hdf5Space(const std::vector<int64_t>& shape) {
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose};
}

std::vector<hsize_t> Hdf5Chunk(const std::vector<int64_t>& shape) {
  constexpr int64_t kChunk = 1 << 20;
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  for (size_t i = 0; i < shape.size() && count > kChunk; ++i) {
    const int64_t rest = count / shape[i];
    chunk[i] = std::max<int64_t>(1, kChunk / rest);
    count = rest * static_cast<int64_t>(chunk[i]);
  }
  return chunk;
}

Hdf5Handle Hdf5MakeParents() {
  Hdf5Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(properties, 1);
  return properties;
}

std::string Hdf5TypeName(hid_t type) {
  const std::string bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return "int" + bits + " numbers";
    case H5T_FLOAT:
      return "float" + bits + " numbers";
    case H5T_STRING:
      return "strings";
    case H5T_COMPOUND:
      return "compound records";
    case H5T_ENUM:
      return "enumeration values";
    default:
      return "values of an unsupported type";
  }
}

bool Hdf5IsNumber(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

Hdf5Handle Hdf5StringType(size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, length + 1);
  return type;
}

bool Hdf5ReadStrings(hid_t type, hid_t space, herr_t (*read)(hid_t source, hid_t type, void* to),
                     hid_t source, std::vector<std::string>* values) {
  values->clear();
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count <= 0) return count == 0;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> strings(count, nullptr);
    if (read(source, type, strings.data()) < 0) return false;
    for (const char* string : strings) values->emplace_back(string == nullptr ? "" : string);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, strings.data());
    return true;
  }
  const size_t size = H5Tget_size(type);
  std::vector<char> bytes(count * size);
  if (read(source, type, bytes.data()) < 0) return false;
  for (hssize_t i = 0; i < count; ++i) {
    values->push_back(FixedString(bytes.data() + i * size, size, H5Tget_strpad(type)));
  }
  return true;
}

}  // namespace moka
