#include <algorithm>
#include <limits>
#include <new>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/hdf5_handle.hpp"

namespace moka {
namespace {

/// An array opened for reading.
struct Array {
  Hdf5Handle id;
  Hdf5Handle type;
  Hdf5Handle space;
};

int64_t Product(const std::vector<int64_t>& shape, size_t first = 0) {
  int64_t product = 1;
  for (size_t i = first; i < shape.size(); ++i) product *= shape[i];
  return product;
}

Array OpenArray(const Hdf5File& file, hid_t file_id, const std::string& path) {
  const std::string place = Text(file.path(), ": \"", path, "\": ");
  Require(file.Has(path), place, "no such array");
  Require(!file.IsGroup(path), place, "a group, not an array");
  const hid_t id = H5Dopen2(file_id, path.c_str(), H5P_DEFAULT);
  if (id < 0) Fail(place, "cannot be opened: ", Hdf5Reason());
  return {{id, H5Dclose}, {H5Dget_type(id), H5Tclose}, {H5Dget_space(id), H5Sclose}};
}

Array OpenNumbers(const Hdf5File& file, hid_t file_id, const std::string& path) {
  Array array = OpenArray(file, file_id, path);
  Require(Hdf5IsNumber(array.type), file.path(), ": \"", path, "\": holds ",
          Hdf5TypeName(array.type), ", where numbers are needed");
  return array;
}

/// Room for `count` numbers, or an Error: a damaged file may claim any size.
template <typename T>
void MakeRoom(const std::string& place, int64_t count, std::vector<T>* values) {
  try {
    values->resize(count);
  } catch (const std::exception&) {
    Fail(place, "no memory for its ", count, " numbers");
  }
}

herr_t ReadAll(hid_t array, hid_t type, void* to) {
  return H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
}

Hdf5Handle StorageOf(const std::vector<int64_t>& shape, int gzip) {
  Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (gzip > 0 && !shape.empty() && Product(shape) > 0) {
    const std::vector<hsize_t> chunk = Hdf5Chunk(shape);
    H5Pset_chunk(storage, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_shuffle(storage);
    H5Pset_deflate(storage, gzip);
  }
  return storage;
}

/// Creates an array and writes `values` of type `memory` to it.
void WriteArray(const Hdf5File& file, hid_t file_id, const std::string& path,
                const std::vector<int64_t>& shape, int gzip, hid_t stored, hid_t memory,
                const void* values) {
  const std::string place = Text(file.path(), ": \"", path, "\": ");
  Require(!file.Has(path), place, "already exists");
  // Handles live on to the end: closing one would clear HDF5's reason for a failure.
  const Hdf5Handle space = Hdf5Space(shape), parents = Hdf5MakeParents();
  const Hdf5Handle storage = StorageOf(shape, gzip);
  const Hdf5Handle array(
      H5Dcreate2(file_id, path.c_str(), stored, space, parents, storage, H5P_DEFAULT), H5Dclose);
  if (array < 0) Fail(place, "cannot be created: ", Hdf5Reason());
  if (Product(shape) == 0) return;
  if (H5Dwrite(array, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    const std::string reason = Hdf5Reason();
    Fail(place, "cannot write its ", Product(shape) * H5Tget_size(stored), " bytes: ", reason);
  }
}

}  // namespace

std::vector<int64_t> Hdf5File::ShapeOf(const std::string& array) const {
  Hdf5Lock lock;
  return Hdf5Shape(OpenArray(*this, Id(), array).space);
}

void Hdf5File::Read(const std::string& array, std::vector<int64_t>* shape,
                    std::vector<float>* values) const {
  Hdf5Lock lock;
  const Array source = OpenNumbers(*this, Id(), array);
  *shape = Hdf5Shape(source.space);
  MakeRoom(Text(path_, ": \"", array, "\": "), Product(*shape), values);
  if (!values->empty() && ReadAll(source.id, H5T_NATIVE_FLOAT, values->data()) < 0) {
    FailAt(array, "cannot be read: " + Hdf5Reason());
  }
}

void Hdf5File::ReadRows(const std::string& array, int64_t begin, int64_t end, float* values) const {
  Hdf5Lock lock;
  const Array source = OpenNumbers(*this, Id(), array);
  std::vector<int64_t> shape = Hdf5Shape(source.space);
  if (shape.empty()) FailAt(array, "a single number, where rows are needed");
  if (begin < 0 || begin > end || end > shape[0]) {
    FailAt(array, Text("has ", shape[0], " rows, no rows ", begin, " to ", end));
  }
  if (begin == end || Product(shape, 1) == 0) return;
  std::vector<hsize_t> start(shape.size(), 0), count(shape.begin(), shape.end());
  start[0] = begin;
  count[0] = shape[0] = end - begin;
  const Hdf5Handle target = Hdf5Space(shape);
  if (H5Sselect_hyperslab(source.space, H5S_SELECT_SET, start.data(), nullptr, count.data(),
                          nullptr) < 0 ||
      H5Dread(source.id, H5T_NATIVE_FLOAT, target, source.space, H5P_DEFAULT, values) < 0) {
    FailAt(array, "cannot be read: " + Hdf5Reason());
  }
}

std::vector<int64_t> Hdf5File::ReadInts(const std::string& array) const {
  Hdf5Lock lock;
  const Array source = OpenNumbers(*this, Id(), array);
  std::vector<int64_t> values;
  MakeRoom(Text(path_, ": \"", array, "\": "), Product(Hdf5Shape(source.space)), &values);
  if (!values.empty() && ReadAll(source.id, H5T_NATIVE_INT64, values.data()) < 0) {
    FailAt(array, "cannot be read: " + Hdf5Reason());
  }
  return values;
}

std::vector<std::string> Hdf5File::ReadStrings(const std::string& array) const {
  Hdf5Lock lock;
  const Array source = OpenArray(*this, Id(), array);
  if (H5Tget_class(source.type) != H5T_STRING) {
    FailAt(array, "holds " + Hdf5TypeName(source.type) + ", where strings are needed");
  }
  std::vector<std::string> values;
  if (!Hdf5ReadStrings(source.type, source.space, ReadAll, source.id, &values)) {
    FailAt(array, "cannot be read: " + Hdf5Reason());
  }
  return values;
}

std::string Hdf5File::ReadString(const std::string& array) const {
  const std::vector<std::string> values = ReadStrings(array);
  if (values.size() != 1) FailAt(array, Text("has ", values.size(), " strings, not one"));
  return values[0];
}

void Hdf5File::Write(const std::string& array, const std::vector<int64_t>& shape,
                     const float* values, int gzip) {
  Hdf5Lock lock;
  WriteArray(*this, Id(), array, shape, gzip, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values);
}

void Hdf5File::WriteInts(const std::string& array, const std::vector<int64_t>& values) {
  Hdf5Lock lock;
  const bool narrow = std::all_of(values.begin(), values.end(), [](int64_t value) {
    return value == static_cast<int32_t>(value);
  });
  WriteArray(*this, Id(), array, {static_cast<int64_t>(values.size())}, 0,
             narrow ? H5T_STD_I32LE : H5T_STD_I64LE, H5T_NATIVE_INT64, values.data());
}

void Hdf5File::WriteString(const std::string& array, const std::string& value) {
  Hdf5Lock lock;
  const Hdf5Handle type = Hdf5StringType(value.size());
  WriteArray(*this, Id(), array, {}, 0, type, type, value.c_str());
}

}  // namespace moka
