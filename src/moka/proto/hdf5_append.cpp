#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/hdf5_handle.hpp"

namespace moka {
namespace {

/// An array of no rows yet, and room for any number of them.
hid_t CreateRows(hid_t file, const std::string& path, const std::vector<int64_t>& shape) {
  std::vector<hsize_t> dims(shape.begin(), shape.end()), most = dims;
  dims[0] = 0;
  most[0] = H5S_UNLIMITED;
  const int axes = static_cast<int>(dims.size());
  const Hdf5Handle space(H5Screate_simple(axes, dims.data(), most.data()), H5Sclose);
  const Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(storage, axes, Hdf5Chunk(shape).data());
  return H5Dcreate2(file, path.c_str(), H5T_IEEE_F32LE, space, Hdf5MakeParents(), storage,
                    H5P_DEFAULT);
}

}  // namespace

void Hdf5File::AppendRows(const std::string& path, const std::vector<int64_t>& shape,
                          const float* values) {
  Hdf5Lock lock;
  Require(!shape.empty(), path_, ": \"", path, "\": one value, where rows are needed");
  for (int64_t dim : shape) {
    if (dim == 0) return;
  }
  const Hdf5Handle array(
      Has(path) ? H5Dopen2(Id(), path.c_str(), H5P_DEFAULT) : CreateRows(Id(), path, shape),
      H5Dclose);
  if (array < 0) FailAt(path, "cannot be created: " + Hdf5Reason());
  std::vector<int64_t> before = Hdf5Shape(Hdf5Handle(H5Dget_space(array), H5Sclose));
  std::vector<int64_t> after = before;
  if (after.size() == shape.size()) after[0] = shape[0];
  if (after != shape) {
    FailAt(path, Text("holds rows of ", Join(before, " x "), ", to which those of ",
                      Join(shape, " x "), " cannot be added"));
  }
  std::vector<hsize_t> start(shape.size(), 0), count(shape.begin(), shape.end()), size = count;
  start[0] = before[0];
  size[0] += before[0];
  if (H5Dset_extent(array, size.data()) < 0) FailAt(path, "cannot grow: " + Hdf5Reason());
  const Hdf5Handle space(H5Dget_space(array), H5Sclose), memory = Hdf5Space(shape);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
          0 ||
      H5Dwrite(array, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values) < 0) {
    FailAt(path, "cannot be written: " + Hdf5Reason());
  }
}

void Hdf5File::Flush() {
  Hdf5Lock lock;
  if (H5Fflush(Id(), H5F_SCOPE_GLOBAL) < 0) Fail(path_, ": cannot be written: ", Hdf5Reason());
}

}  // namespace moka
