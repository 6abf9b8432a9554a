#include "moka/proto/hdf5_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdio>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

class Hdf5FileTest : public testing::Test {
 protected:
  const ScratchFolder folder_;
  const std::string path_ = folder_ / "arrays.h5";

  /// The message of the Error that `action` throws.
  template <typename Action>
  static std::string MessageOf(const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  static Floats ReadValues(const Hdf5File& file, const std::string& array) {
    Shape shape;
    Floats values;
    file.Read(array, &shape, &values);
    return values;
  }
};

TEST_F(Hdf5FileTest, WrittenArraysAreReadBackWithTheirShapes) {
  const Floats values = {1, -2, 3.5f, 4, 5, 6};
  Hdf5File file = Hdf5File::Create(path_);
  file.Write("param/conv1/0", {2, 3}, values.data());
  file.Write("param/conv1/1", {1, 6, 1}, values.data(), 9);
  file.Write("scalar", {}, values.data() + 2);
  file.Write("empty", {0, 4}, nullptr);
  file.Close();

  const Hdf5File back = Hdf5File::Open(path_);
  Shape shape;
  Floats read;
  back.Read("param/conv1/0", &shape, &read);
  EXPECT_EQ(shape, (Shape{2, 3}));
  EXPECT_EQ(read, values);
  back.Read("/param/conv1/1", &shape, &read);
  EXPECT_EQ(shape, (Shape{1, 6, 1}));
  EXPECT_EQ(read, values);
  back.Read("scalar", &shape, &read);
  EXPECT_EQ(shape, Shape{});
  EXPECT_EQ(read, Floats{3.5f});
  back.Read("empty", &shape, &read);
  EXPECT_EQ(shape, (Shape{0, 4}));
  EXPECT_TRUE(read.empty());
}

TEST_F(Hdf5FileTest, GroupsListTheirMembersInByteOrderAndArraysAtAnyDepth) {
  const float one = 1;
  Hdf5File file = Hdf5File::Create(path_);
  file.Write("data/inception/3x3/0", {1}, &one);
  file.Write("data/b/1", {1}, &one);
  file.Write("data/b/0", {1}, &one);
  file.MakeGroup("data/a");
  file.MakeGroup("data/a");
  EXPECT_EQ(file.Children("data"), (Strings{"a", "b", "inception"}));
  EXPECT_EQ(file.Children(""), Strings{"data"});
  EXPECT_EQ(file.Arrays("data"), (Strings{"b/0", "b/1", "inception/3x3/0"}));
  EXPECT_TRUE(file.IsGroup("data/inception/3x3"));
  EXPECT_FALSE(file.IsGroup("data/b/0"));
  EXPECT_TRUE(file.Has("data/b/0"));
  EXPECT_TRUE(file.Has("/"));
  EXPECT_FALSE(file.Has("data/c/0"));
  EXPECT_FALSE(file.Has("data/b/0/x"));
}

TEST_F(Hdf5FileTest, RowsAreReadFromTheMiddle) {
  Floats values(10 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Hdf5File file = Hdf5File::Create(path_);
  file.Write("x", {10, 3}, values.data(), 4);
  Floats rows(6);
  file.ReadRows("x", 4, 6, rows.data());
  EXPECT_EQ(rows, (Floats{12, 13, 14, 15, 16, 17}));
  EXPECT_NE(MessageOf([&] {
              file.ReadRows("x", 9, 11, rows.data());
            }).find("\"x\": has 10 rows, no rows 9 to 11"),
            std::string::npos);
}

TEST_F(Hdf5FileTest, StoredNumbersOfEveryTypeAreConverted) {
  const hid_t id = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t dims[] = {2};
  const hid_t space = H5Screate_simple(1, dims, nullptr);
  const double values[] = {-7, 100};
  const std::pair<const char*, hid_t> types[] = {{"double", H5T_IEEE_F64LE},
                                                 {"big-endian float", H5T_IEEE_F32BE},
                                                 {"int8", H5T_STD_I8LE},
                                                 {"big-endian int", H5T_STD_I32BE},
                                                 {"int64", H5T_STD_I64LE}};
  for (const auto& [name, type] : types) {
    const hid_t array = H5Dcreate2(id, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(array, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(array);
  }
  H5Sclose(space);
  H5Fclose(id);
  const Hdf5File file = Hdf5File::Open(path_);
  for (const auto& [name, type] : types) {
    EXPECT_EQ(ReadValues(file, name), (Floats{-7, 100})) << name;
    EXPECT_EQ(file.ReadInts(name), (Shape{-7, 100})) << name;
  }
}

TEST_F(Hdf5FileTest, IntegersAndStringsAreReadBack) {
  Hdf5File file = Hdf5File::Create(path_);
  file.WriteInts("iter", {10});
  file.WriteInts("wide", {-1, int64_t{1} << 40});
  file.WriteString("learned_net", "snap_iter_10.caffemodel.h5");
  file.WriteString("nothing", "");
  EXPECT_EQ(file.ReadInts("iter"), Shape{10});
  EXPECT_EQ(file.ReadInts("wide"), (Shape{-1, int64_t{1} << 40}));
  EXPECT_EQ(file.ReadString("learned_net"), "snap_iter_10.caffemodel.h5");
  EXPECT_EQ(file.ReadString("nothing"), "");
}

TEST_F(Hdf5FileTest, AttributesAreReadBackFromFileGroupAndArray) {
  const float one = 1;
  Hdf5File file = Hdf5File::Create(path_);
  file.Write("g/x", {1}, &one);
  file.SetAttribute("phase", "TRAIN");
  file.SetAttribute("phase", "TEST");
  file.SetAttribute("level", 3);
  file.SetAttribute("loss", 0.25f);
  file.SetAttribute("rate", 0.1, "g");
  file.SetAttribute("means", Floats{1, 2.5f}, "g/x");
  file.SetAttribute("names", Strings{"a", "", "long name"}, "g/x");
  EXPECT_EQ(file.StringAttribute("phase"), "TEST");
  EXPECT_EQ(file.IntAttribute("level"), 3);
  EXPECT_EQ(file.DoubleAttribute("loss"), 0.25);
  EXPECT_EQ(file.DoubleAttribute("rate", "g"), 0.1);
  EXPECT_EQ(file.FloatsAttribute("means", "g/x"), (Floats{1, 2.5f}));
  EXPECT_EQ(file.StringsAttribute("names", "g/x"), (Strings{"a", "", "long name"}));
  EXPECT_TRUE(file.HasAttribute("rate", "g"));
  EXPECT_FALSE(file.HasAttribute("rate"));
  EXPECT_FALSE(file.HasAttribute("rate", "no such group"));
}

TEST_F(Hdf5FileTest, VariableLengthAndPaddedStringsAreRead) {
  const hid_t id = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t variable = H5Tcopy(H5T_C_S1), padded = H5Tcopy(H5T_C_S1);
  H5Tset_size(variable, H5T_VARIABLE);
  H5Tset_size(padded, 6);
  H5Tset_strpad(padded, H5T_STR_SPACEPAD);
  const char* text = "some text";
  for (const auto& [name, type, value] :
       {std::tuple<const char*, hid_t, const void*>{"variable", variable, &text},
        {"padded", padded, "abc   "}}) {
    const hid_t attribute = H5Acreate2(id, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, value);
    H5Aclose(attribute);
  }
  H5Tclose(variable);
  H5Tclose(padded);
  H5Sclose(scalar);
  H5Fclose(id);
  const Hdf5File file = Hdf5File::Open(path_);
  EXPECT_EQ(file.StringAttribute("variable"), "some text");
  EXPECT_EQ(file.StringAttribute("padded"), "abc");
}

TEST_F(Hdf5FileTest, ErrorsNameFilePathAndReason) {
  const float one = 1;
  Hdf5File file = Hdf5File::Create(path_);
  file.Write("g/x", {1}, &one);
  file.WriteString("s", "text");
  const auto read = [&](const char* array) { return MessageOf([&] { ReadValues(file, array); }); };
  EXPECT_EQ(read("g/y"), path_ + ": \"g/y\": no such array");
  EXPECT_EQ(read("g"), path_ + ": \"g\": a group, not an array");
  EXPECT_EQ(read("s"), path_ + ": \"s\": holds strings, where numbers are needed");
  EXPECT_EQ(MessageOf([&] { file.ReadString("g/x"); }),
            path_ + ": \"g/x\": holds float32 numbers, where strings are needed");
  EXPECT_EQ(MessageOf([&] { file.Children("h"); }), path_ + ": \"h\": no such group");
  EXPECT_EQ(MessageOf([&] { file.IntAttribute("level"); }),
            path_ + ": attribute \"level\" of \"/\": no such attribute");
  EXPECT_NE(MessageOf([&] { file.Write("g/x", {1}, &one); }).find("already exists"),
            std::string::npos);
  file.Close();
  EXPECT_EQ(read("g/x"), path_ + ": used after it was closed");
}

TEST_F(Hdf5FileTest, FilesThatAreNotHdf5AreRefused) {
  const auto open = [&] { Hdf5File::Open(path_); };
  EXPECT_EQ(MessageOf(open), path_ + ": No such file or directory");
  WriteFileAtomically(path_, "");
  EXPECT_EQ(MessageOf(open), path_ + ": the file is empty, not an HDF5 file");
  WriteFileAtomically(path_, "layer { name: \"conv1\" }");
  EXPECT_EQ(MessageOf(open), path_ + ": not an HDF5 file");
  const Floats values(10000, 1);
  Hdf5File file = Hdf5File::Create(path_);
  file.Write("x", {100, 100}, values.data());
  file.Close();
  WriteFileAtomically(path_, ReadFile(path_).substr(0, 3000));
  EXPECT_NE(MessageOf(open).find(path_ + ": damaged HDF5 file: truncated file"), std::string::npos)
      << MessageOf(open);
  EXPECT_EQ(MessageOf([] { Hdf5File::Create("/no/such/folder/x.h5"); }),
            "/no/such/folder/x.h5: cannot be created: No such file or directory");
}

TEST_F(Hdf5FileTest, FilesAreUsedFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<Floats> read(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string path = path_ + std::to_string(t);
      const Floats values(1000, static_cast<float>(t));
      for (int i = 0; i < 20; ++i) {
        Hdf5File file = Hdf5File::Create(path);
        file.Write("a/b", {10, 100}, values.data(), 1);
        read[t] = ReadValues(file, "a/b");
      }
      std::remove(path.c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(read[t], Floats(1000, static_cast<float>(t)));
}

}  // namespace
}  // namespace moka
