#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moka {

/// An HDF5 file: arrays in nested groups, named by paths ("param/conv1/0"; a leading "/" is
/// optional), and attributes on groups and arrays.
///
/// Numbers of every stored type (any integer or floating-point type, any byte order) are converted
/// when read. Every failure is an Error that names the file, the path in it and the reason; HDF5's
/// own messages are never printed. HDF5 is not thread-safe: all files of the process share one
/// lock, so that different files may be used in different threads.
class Hdf5File {
 public:
  /// Opens an existing file for reading. Throws when it cannot be opened or is not HDF5.
  static Hdf5File Open(const std::string& path);
  /// Creates a file, replacing what stood at `path`. Call Close when all is written.
  static Hdf5File Create(const std::string& path);
  /// Whether the file exists, can be read and begins as HDF5 files do.
  static bool IsHdf5(const std::string& path);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  ~Hdf5File();

  /// Writes everything to the file; throws when that fails (disk full).
  void Flush();
  /// Writes everything to the file and closes it; throws when that fails (disk full).
  /// The destructor closes as well, but has to swallow errors.
  void Close();

  const std::string& path() const { return path_; }

  bool Has(const std::string& path) const;
  bool IsGroup(const std::string& path) const;
  /// Names of the members of a group, in byte order whatever the order of creation.
  std::vector<std::string> Children(const std::string& group) const;
  /// Paths, relative to `group`, of all arrays in it and in its subgroups, in byte order level by
  /// level. A layer named "a/b" gives a nested group and the paths "a/b/0", "a/b/1".
  std::vector<std::string> Arrays(const std::string& group) const;

  /// Sizes of the axes; a scalar has none.
  std::vector<int64_t> ShapeOf(const std::string& array) const;
  /// Reads a whole array as float32.
  void Read(const std::string& array, std::vector<int64_t>* shape,
            std::vector<float>* values) const;
  /// Reads the rows [begin, end) of the first axis to `values`, which has room for
  /// (end - begin) * (product of the other axes) numbers.
  void ReadRows(const std::string& array, int64_t begin, int64_t end, float* values) const;
  std::vector<int64_t> ReadInts(const std::string& array) const;
  std::vector<std::string> ReadStrings(const std::string& array) const;
  /// The one string of a scalar array, or of an array with one element.
  std::string ReadString(const std::string& array) const;

  /// Creates a group and those above it; nothing happens if it exists.
  void MakeGroup(const std::string& group);
  /// Writes a new array, creating the groups above it. `gzip` is the level of compression, 1 to 9;
  /// 0 stores the plain numbers.
  void Write(const std::string& array, const std::vector<int64_t>& shape, const float* values,
             int gzip = 0);
  /// Adds rows (first axis) to an array that has as many other axes of the same sizes; creates it
  /// where there is none.
  void AppendRows(const std::string& array, const std::vector<int64_t>& shape, const float* values);
  /// Writes integers on one axis, 32 bits wide where all of them fit, else 64.
  void WriteInts(const std::string& array, const std::vector<int64_t>& values);
  /// Writes one string as a scalar of just its length.
  void WriteString(const std::string& array, const std::string& value);

  /// Attributes of a group or an array, by default of the whole file.
  bool HasAttribute(const std::string& name, const std::string& object = "/") const;
  std::string StringAttribute(const std::string& name, const std::string& object = "/") const;
  int64_t IntAttribute(const std::string& name, const std::string& object = "/") const;
  double DoubleAttribute(const std::string& name, const std::string& object = "/") const;
  std::vector<float> FloatsAttribute(const std::string& name,
                                     const std::string& object = "/") const;
  std::vector<std::string> StringsAttribute(const std::string& name,
                                            const std::string& object = "/") const;

  /// Sets an attribute of an existing object (the whole file by default), replacing an older one.
  /// HDF5 limits an attribute to 64 KB.
  void SetAttribute(const std::string& name, const std::string& value,
                    const std::string& object = "/");
  void SetAttribute(const std::string& name, int64_t value, const std::string& object = "/");
  void SetAttribute(const std::string& name, int value, const std::string& object = "/");
  void SetAttribute(const std::string& name, double value, const std::string& object = "/");
  void SetAttribute(const std::string& name, float value, const std::string& object = "/");
  void SetAttribute(const std::string& name, const std::vector<float>& values,
                    const std::string& object = "/");
  void SetAttribute(const std::string& name, const std::vector<std::string>& values,
                    const std::string& object = "/");

 private:
  Hdf5File(std::string path, int64_t id) : path_(std::move(path)), id_(id) {}

  [[noreturn]] void FailAt(const std::string& object, const std::string& what) const;
  /// The file's handle; throws when the file was closed.
  int64_t Id() const;

  std::string path_;
  int64_t id_;  // HDF5's hid_t, -1 when closed
};

}  // namespace moka
