#include "moka/proto/hdf5_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_handle.hpp"

namespace moka {
namespace {

static_assert(sizeof(hid_t) == sizeof(int64_t), "Hdf5File keeps handles as int64_t");

constexpr int kDeepestGroup = 64;

herr_t CollectName(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->push_back(name);
  return 0;
}

}  // namespace

Hdf5File Hdf5File::Open(const std::string& path) {
  Hdf5Lock lock;
  struct stat status;
  if (stat(path.c_str(), &status) != 0) Fail(path, ": ", std::strerror(errno));
  Require(!S_ISDIR(status.st_mode), path, ": a folder, not an HDF5 file");
  if (access(path.c_str(), R_OK) != 0) Fail(path, ": ", std::strerror(errno));
  Require(status.st_size > 0, path, ": the file is empty, not an HDF5 file");
  Require(H5Fis_hdf5(path.c_str()) > 0, path, ": not an HDF5 file");
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) Fail(path, ": damaged HDF5 file: ", Hdf5Reason());
  return Hdf5File(path, id);
}

Hdf5File Hdf5File::Create(const std::string& path) {
  Hdf5Lock lock;
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0) Fail(path, ": cannot be created: ", Hdf5Reason());
  return Hdf5File(path, id);
}

bool Hdf5File::IsHdf5(const std::string& path) {
  Hdf5Lock lock;
  return H5Fis_hdf5(path.c_str()) > 0;
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : path_(std::move(other.path_)), id_(std::exchange(other.id_, -1)) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(id_, other.id_);
  return *this;
}

Hdf5File::~Hdf5File() {
  if (id_ < 0) return;
  Hdf5Lock lock;
  H5Fclose(id_);
}

void Hdf5File::Close() {
  Hdf5Lock lock;
  const hid_t id = Id();
  const bool flushed = H5Fflush(id, H5F_SCOPE_GLOBAL) >= 0;
  const std::string reason = flushed ? "" : Hdf5Reason();
  id_ = -1;
  const bool closed = H5Fclose(id) >= 0;
  if (!flushed || !closed) {
    Fail(path_, ": cannot be written: ", flushed ? Hdf5Reason() : reason);
  }
}

void Hdf5File::FailAt(const std::string& object, const std::string& what) const {
  Fail(path_, ": \"", object, "\": ", what);
}

int64_t Hdf5File::Id() const {
  Require(id_ >= 0, path_, ": used after it was closed");
  return id_;
}

bool Hdf5File::Has(const std::string& path) const {
  Hdf5Lock lock;
  std::string prefix;
  // HDF5 takes a path with a missing group in the middle for an error, so ask step by step.
  for (const std::string& step : Split(path, '/')) {
    if (step.empty()) continue;
    prefix += (prefix.empty() ? "" : "/") + step;
    if (H5Lexists(Id(), prefix.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(Id(), prefix.c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

bool Hdf5File::IsGroup(const std::string& path) const {
  Hdf5Lock lock;
  if (!Has(path)) return false;
  const Hdf5Handle object(H5Oopen(Id(), path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Oclose);
  return object >= 0 && H5Iget_type(object) == H5I_GROUP;
}

std::vector<std::string> Hdf5File::Children(const std::string& group) const {
  Hdf5Lock lock;
  if (!IsGroup(group)) FailAt(group, Has(group) ? "an array, not a group" : "no such group");
  const Hdf5Handle id(H5Gopen2(Id(), group.empty() ? "/" : group.c_str(), H5P_DEFAULT), H5Gclose);
  std::vector<std::string> names;
  if (H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, CollectName, &names) < 0) {
    FailAt(group, Hdf5Reason());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Hdf5File::Arrays(const std::string& group) const {
  Hdf5Lock lock;
  if (std::count(group.begin(), group.end(), '/') > kDeepestGroup) {
    FailAt(group, "groups too deep: perhaps a link to a group above");
  }
  std::vector<std::string> arrays;
  for (const std::string& child : Children(group)) {
    const std::string path = group.empty() ? child : group + "/" + child;
    if (!IsGroup(path)) {
      arrays.push_back(child);
      continue;
    }
    for (const std::string& below : Arrays(path)) arrays.push_back(child + "/" + below);
  }
  return arrays;
}

void Hdf5File::MakeGroup(const std::string& group) {
  Hdf5Lock lock;
  if (group.empty() || IsGroup(group)) return;
  const Hdf5Handle parents = Hdf5MakeParents();
  const Hdf5Handle id(H5Gcreate2(Id(), group.c_str(), parents, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (id < 0) FailAt(group, "cannot be created: " + Hdf5Reason());
}

}  // namespace moka
