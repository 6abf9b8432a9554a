#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace moka {

/// Held during every use of HDF5, which keeps global state; also keeps it from printing errors.
class Hdf5Lock {
 public:
  Hdf5Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

/// Why HDF5's last call failed: the innermost message of its error stack.
std::string Hdf5Reason();

/// An HDF5 handle, closed at the end of its life by the function of its kind. Converts to hid_t;
/// negative when the call that made it failed.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Sizes of the axes of a dataspace.
std::vector<int64_t> Hdf5Shape(hid_t space);

/// How a type is called in a message: "strings", "float64 numbers", ...
std::string Hdf5TypeName(hid_t type);

bool Hdf5IsNumber(hid_t type);

/// A dataspace; a scalar where `shape` is empty.
Hdf5Handle Hdf5Space(const std::vector<int64_t>& shape);

/// The chunks in which to store an array without empty axes, of about a million numbers: the first
/// axes are cut to one, the next to what fits.
std::vector<hsize_t> Hdf5Chunk(const std::vector<int64_t>& shape);

/// Properties that create missing groups on the way to a new object.
Hdf5Handle Hdf5MakeParents();

/// A type of fixed-length strings of up to `length` bytes.
Hdf5Handle Hdf5StringType(size_t length);

/// Reads strings of fixed or variable length, through `read(memory type, buffer)`, which returns
/// HDF5's status. Returns false when that failed.
bool Hdf5ReadStrings(hid_t type, hid_t space, herr_t (*read)(hid_t source, hid_t type, void* to),
                     hid_t source, std::vector<std::string>* values);

}  // namespace moka
