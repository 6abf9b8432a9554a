#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/proto/hdf5_handle.hpp"

namespace moka {
namespace {

std::string PlaceOf(const Hdf5File& file, const std::string& name, const std::string& object) {
  return Text(file.path(), ": attribute \"", name, "\" of \"", object, "\": ");
}

/// An attribute opened for reading.
struct Attribute {
  Hdf5Handle id;
  Hdf5Handle type;
  Hdf5Handle space;
};

Attribute OpenAttribute(const Hdf5File& file, hid_t file_id, const std::string& name,
                        const std::string& object) {
  Require(file.HasAttribute(name, object), PlaceOf(file, name, object), "no such attribute");
  const hid_t id = H5Aopen_by_name(file_id, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0) Fail(PlaceOf(file, name, object), "cannot be opened: ", Hdf5Reason());
  return {{id, H5Aclose}, {H5Aget_type(id), H5Tclose}, {H5Aget_space(id), H5Sclose}};
}

/// All numbers of an attribute, converted to T, which `memory` describes to HDF5.
template <typename T>
std::vector<T> ReadNumbers(const Hdf5File& file, hid_t file_id, const std::string& name,
                           const std::string& object, hid_t memory) {
  const Attribute attribute = OpenAttribute(file, file_id, name, object);
  Require(Hdf5IsNumber(attribute.type), PlaceOf(file, name, object), "holds ",
          Hdf5TypeName(attribute.type), ", where numbers are needed");
  std::vector<T> values(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(attribute.space)));
  if (!values.empty() && H5Aread(attribute.id, memory, values.data()) < 0) {
    Fail(PlaceOf(file, name, object), "cannot be read: ", Hdf5Reason());
  }
  return values;
}

/// The only value of an attribute.
template <typename T>
T One(const Hdf5File& file, const std::string& name, const std::string& object,
      const std::vector<T>& values) {
  Require(values.size() == 1, PlaceOf(file, name, object), "has ", values.size(),
          " values, not one");
  return values[0];
}

void WriteAttribute(const Hdf5File& file, hid_t file_id, const std::string& name,
                    const std::string& object, const std::vector<int64_t>& shape, hid_t type,
                    const void* values) {
  const std::string place = PlaceOf(file, name, object);
  Require(file.Has(object), place, "no such group or array");
  if (file.HasAttribute(name, object)) {
    H5Adelete_by_name(file_id, object.c_str(), name.c_str(), H5P_DEFAULT);
  }
  const Hdf5Handle space = Hdf5Space(shape);
  const Hdf5Handle id(H5Acreate_by_name(file_id, object.c_str(), name.c_str(), type, space,
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
  if (id < 0 || H5Awrite(id, type, values) < 0) Fail(place, "cannot be written: ", Hdf5Reason());
}

}  // namespace

bool Hdf5File::HasAttribute(const std::string& name, const std::string& object) const {
  Hdf5Lock lock;
  return Has(object) && H5Aexists_by_name(Id(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string Hdf5File::StringAttribute(const std::string& name, const std::string& object) const {
  return One(*this, name, object, StringsAttribute(name, object));
}

int64_t Hdf5File::IntAttribute(const std::string& name, const std::string& object) const {
  Hdf5Lock lock;
  return One(*this, name, object,
             ReadNumbers<int64_t>(*this, Id(), name, object, H5T_NATIVE_INT64));
}

double Hdf5File::DoubleAttribute(const std::string& name, const std::string& object) const {
  Hdf5Lock lock;
  return One(*this, name, object,
             ReadNumbers<double>(*this, Id(), name, object, H5T_NATIVE_DOUBLE));
}

std::vector<float> Hdf5File::FloatsAttribute(const std::string& name,
                                             const std::string& object) const {
  Hdf5Lock lock;
  return ReadNumbers<float>(*this, Id(), name, object, H5T_NATIVE_FLOAT);
}

std::vector<std::string> Hdf5File::StringsAttribute(const std::string& name,
                                                    const std::string& object) const {
  Hdf5Lock lock;
  const Attribute attribute = OpenAttribute(*this, Id(), name, object);
  Require(H5Tget_class(attribute.type) == H5T_STRING, PlaceOf(*this, name, object), "holds ",
          Hdf5TypeName(attribute.type), ", where a string is needed");
  std::vector<std::string> values;
  if (!Hdf5ReadStrings(attribute.type, attribute.space, H5Aread, attribute.id, &values)) {
    Fail(PlaceOf(*this, name, object), "cannot be read: ", Hdf5Reason());
  }
  return values;
}

void Hdf5File::SetAttribute(const std::string& name, const std::string& value,
                            const std::string& object) {
  Hdf5Lock lock;
  WriteAttribute(*this, Id(), name, object, {}, Hdf5StringType(value.size()), value.c_str());
}

void Hdf5File::SetAttribute(const std::string& name, int64_t value, const std::string& object) {
  Hdf5Lock lock;
  WriteAttribute(*this, Id(), name, object, {}, H5T_NATIVE_INT64, &value);
}

void Hdf5File::SetAttribute(const std::string& name, int value, const std::string& object) {
  SetAttribute(name, static_cast<int64_t>(value), object);
}

void Hdf5File::SetAttribute(const std::string& name, double value, const std::string& object) {
  Hdf5Lock lock;
  WriteAttribute(*this, Id(), name, object, {}, H5T_NATIVE_DOUBLE, &value);
}

void Hdf5File::SetAttribute(const std::string& name, float value, const std::string& object) {
  Hdf5Lock lock;
  WriteAttribute(*this, Id(), name, object, {}, H5T_NATIVE_FLOAT, &value);
}

void Hdf5File::SetAttribute(const std::string& name, const std::vector<float>& values,
                            const std::string& object) {
  Hdf5Lock lock;
  WriteAttribute(*this, Id(), name, object, {static_cast<int64_t>(values.size())}, H5T_NATIVE_FLOAT,
                 values.data());
}

void Hdf5File::SetAttribute(const std::string& name, const std::vector<std::string>& values,
                            const std::string& object) {
  Hdf5Lock lock;
  size_t longest = 0;
  for (const std::string& value : values) longest = std::max(longest, value.size());
  std::vector<char> bytes(values.size() * (longest + 1), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    std::copy(values[i].begin(), values[i].end(), bytes.begin() + i * (longest + 1));
  }
  WriteAttribute(*this, Id(), name, object, {static_cast<int64_t>(values.size())},
                 Hdf5StringType(longest), bytes.data());
}

}  // namespace moka
