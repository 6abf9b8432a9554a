#include "moka/data/database.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "moka/base/atomic_file.hpp"
#include "moka/proto/hdf5_file.hpp"
#include "moka/test/data_room/helpers.hpp"

namespace moka {
namespace {

namespace fs = std::filesystem;

std::vector<DataParameter::DB> Backends() {
#ifdef MOKA_LEVELDB
  return {DataParameter::LMDB, DataParameter::LEVELDB};
#else
  return {DataParameter::LMDB};
#endif
}

/// Names, sizes and times of all files of a folder.
std::map<std::string, std::pair<uintmax_t, fs::file_time_type>> FilesOf(const std::string& folder) {
  std::map<std::string, std::pair<uintmax_t, fs::file_time_type>> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename()] = {entry.file_size(), entry.last_write_time()};
  }
  return files;
}

class DatabaseTest : public testing::TestWithParam<DataParameter::DB> {
 protected:
  std::string path() const { return folder_ / "db"; }

  /// `count` records whose values have lengths of 0 to 6000 bytes, written backwards.
  std::string ValueOf(int number) const {
    return std::string(number * 37 % 6000, static_cast<char>('a' + number % 26));
  }
  void Write(int count) const {
    DatabaseWriter writer(path(), GetParam());
    for (int i = count - 1; i >= 0; --i) writer.Put(KeyOf(i), ValueOf(i));
    writer.Commit();
  }
  std::shared_ptr<const Database> Open() const { return Database::Open(path(), GetParam()); }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(, DatabaseTest, testing::ValuesIn(Backends()),
                         [](const auto& info) { return DataParameter::DB_Name(info.param); });

TEST_P(DatabaseTest, WalksRecordsInTheOrderOfTheirKeys) {
  Write(300);
  const auto database = Open();
  EXPECT_EQ(database->Count(), 300);
  const auto cursor = database->NewCursor();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(cursor->Next());
    ASSERT_EQ(cursor->key(), KeyOf(i));
    ASSERT_EQ(cursor->value(), ValueOf(i));
  }
  EXPECT_FALSE(cursor->Next());
}

TEST_P(DatabaseTest, SeeksForwardBackwardNearAndFar) {
  Write(5000);
  const auto database = Open();
  const auto cursor = database->NewCursor();
  std::mt19937 random(1);
  std::vector<int> positions = {7, 7, 8, 15, 14, 4999, 0, 4998, 1};
  for (int i = 0; i < 500; ++i) positions.push_back(static_cast<int>(random() % 5000));
  for (const int position : positions) {
    cursor->Seek(position);
    ASSERT_EQ(cursor->key(), KeyOf(position));
    ASSERT_EQ(cursor->value(), ValueOf(position));
  }
  ExpectParts(ErrorOf([&] { cursor->Seek(5000); }), {path(), "no record 5000 among 5000"});
}

TEST_P(DatabaseTest, ServesSeveralThreadsAtOnce) {
  Write(1000);
  const auto database = Open();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto cursor = database->NewCursor();
      for (int i = 0; i < 300; ++i) {
        const int position = (i * 613 + t * 17) % 1000;
        cursor->Seek(position);
        if (cursor->key() != KeyOf(position) || cursor->value() != ValueOf(position)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(DatabaseTest, OpensOnceHoweverOftenItIsOpened) {
  Write(3);
  EXPECT_EQ(Open(), Database::Open(path() + "/../db/", GetParam()));
}

TEST_P(DatabaseTest, ReadingLeavesTheFolderAsItIs) {
  Write(50);
  const auto before = FilesOf(path());
  const auto cursor_database = Open();
  cursor_database->NewCursor()->Seek(49);
  EXPECT_EQ(FilesOf(path()), before);
}

TEST_P(DatabaseTest, AppearsWholeWithCommitOnly) {
  {
    DatabaseWriter writer(path(), GetParam());
    writer.Put("a", "1");
    EXPECT_FALSE(fs::exists(path()));
  }
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_TRUE(fs::is_empty(folder_ / ""));
}

TEST_P(DatabaseTest, KeepsWhatExistsUnlessToldToOverwrite) {
  Write(3);
  ExpectParts(ErrorOf([&] { DatabaseWriter(path(), GetParam()); }), {path(), "exists already"});
  {
    DatabaseWriter writer(path(), GetParam(), true);
    writer.Put("only", "one");
    EXPECT_EQ(Open()->Count(), 3);
    writer.Commit();
  }
  EXPECT_EQ(Open()->Count(), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / ""), fs::directory_iterator()), 1);
}

TEST_P(DatabaseTest, WritingBelowAMissingFolderIsAnError) {
  const std::string path = folder_ / "no/db";
  ExpectParts(ErrorOf([&] { DatabaseWriter(path, GetParam()); }), {path, "No such file"});
}

TEST_P(DatabaseTest, TheLastOfSeveralRecordsWithOneKeyStays) {
  DatabaseWriter writer(path(), GetParam());
  for (const char* value : {"first", "second", "third"}) writer.Put("key", value);
  writer.Commit();
  const auto database = Open();
  const auto cursor = database->NewCursor();
  cursor->Seek(0);
  EXPECT_EQ(cursor->value(), "third");
  EXPECT_EQ(database->Count(), 1);
}

// promise 11: the map grows by itself, and the file is no larger than what is in it.
TEST(LmdbTest, GrowsFarBeyondItsFirstSize) {
  const TemporaryFolder folder;
  const std::string value(1 << 20, 'x');
  DatabaseWriter writer(folder / "db", DataParameter::LMDB);
  for (int i = 0; i < 50; ++i) writer.Put(KeyOf(i), value);
  writer.Commit();
  EXPECT_EQ(Database::Open(folder / "db", DataParameter::LMDB)->Count(), 50);
  EXPECT_LT(fs::file_size(folder / "db/data.mdb"), 52u << 20);
}

TEST(LmdbTest, AKeyOfTheWrongLengthIsAnError) {
  const TemporaryFolder folder;
  DatabaseWriter writer(folder / "db", DataParameter::LMDB);
  writer.Put(std::string(512, 'k'), "value");
  ExpectParts(ErrorOf([&] { writer.Commit(); }), {"1 to 511 bytes", "512"});
}

// promise 10: the absolute path and the meaning, not a number.
TEST(DatabaseErrorTest, SaysWhatStandsThereInstead) {
  const TemporaryFolder folder;
  const auto open = [&](const std::string& name, DataParameter::DB backend) {
    return ErrorOf([&] { Database::Open(name, backend); });
  };
  const std::string cwd = fs::current_path();
  ExpectParts(open("no/such_lmdb/", DataParameter::LMDB),
              {cwd + "/no/such_lmdb: no such directory"});
  ExpectParts(open(GoldenData("db_leveldb_raw/db"), DataParameter::LMDB),
              {cwd, "is a LevelDB, not an LMDB", "backend: LEVELDB"});
  ExpectParts(open(GoldenData("db_lmdb_raw/db"), DataParameter::LEVELDB),
              {cwd, "is an LMDB, not a LevelDB", "backend: LMDB"});
  fs::create_directory(folder / "empty");
  ExpectParts(open(folder / "empty", DataParameter::LMDB), {folder / "empty", "neither an LMDB"});
  WriteFileAtomically(folder / "file", "x");
  ExpectParts(open(folder / "file", DataParameter::LMDB), {folder / "file", "is a file"});
}

TEST(DatabaseErrorTest, SaysThatPermissionIsMissing) {
  // Root may read everything, so a child process gives up being root.
  const auto open_as_nobody = [] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);
    const TemporaryFolder folder;
    WriteLmdb(folder / "db", {"value"});
    fs::permissions(folder / "db/data.mdb", fs::perms::none);
    errno = 0;
    ExpectParts(ErrorOf([&] { Database::Open(folder / "db", DataParameter::LMDB); }),
                {folder / "db/data.mdb: Permission denied"});
  };
  EXPECT_EXIT((open_as_nobody(), std::exit(testing::Test::HasFailure())),
              testing::ExitedWithCode(0), "");
}

// A page that is missing kills the process when it is touched, so every length is tried.
TEST(DatabaseErrorTest, ATruncatedLmdbIsAnErrorAtEveryLength) {
  const TemporaryFolder folder;
  WriteLmdb(folder / "whole", std::vector<std::string>(40, std::string(3000, 'x')));
  const std::string bytes = ReadFile(folder / "whole/data.mdb");
  for (size_t length = 0; length < bytes.size(); length += 4096 * 3 - 1000) {
    const std::string path = folder / std::to_string(length);
    fs::create_directory(path);
    WriteFileAtomically(path + "/data.mdb", bytes.substr(0, length));
    ExpectParts(ErrorOf([&] { Database::Open(path, DataParameter::LMDB); }),
                {path + "/data.mdb", length == 0         ? "is empty"
                                     : length < 2 * 4096 ? "ends within page"
                                                         : "is truncated"});
  }
}

TEST(DatabaseErrorTest, AFileOfSomethingElseIsNoLmdb) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "db");
  WriteFileAtomically(folder / "db/data.mdb", std::string(10000, 'x'));
  ExpectParts(ErrorOf([&] { Database::Open(folder / "db", DataParameter::LMDB); }),
              {folder / "db/data.mdb", "is not an LMDB file"});
}

TEST(DatabaseErrorTest, AnUnknownBackendIsAnError) {
  EXPECT_EQ(DatabaseBackendNamed("lmdb"), DataParameter::LMDB);
  EXPECT_EQ(DatabaseBackendNamed("LevelDB"), DataParameter::LEVELDB);
  ExpectParts(ErrorOf([] { DatabaseBackendNamed("hdf5"); }), {"hdf5", "lmdb and leveldb"});
}

// Databases that Caffe wrote: keys, labels and sizes as Caffe read them.
class GoldenDatabaseTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, GoldenDatabaseTest,
                         testing::Values("db_lmdb_raw", "db_lmdb_gray", "db_lmdb_encoded",
                                         "db_lmdb_float_data", "db_lmdb_key_order",
                                         "db_lmdb_var_raw", "db_leveldb_raw", "db_leveldb_encoded"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(GoldenDatabaseTest, HoldsWhatCaffeWrote) {
  const std::string folder = GoldenData(GetParam());
  const bool leveldb = folder.find("leveldb") != std::string::npos;
#ifndef MOKA_LEVELDB
  if (leveldb) GTEST_SKIP() << "built without LevelDB";
#endif
  const auto database =
      Database::Open(folder + "/db", leveldb ? DataParameter::LEVELDB : DataParameter::LMDB);
  const Hdf5File golden = Hdf5File::Open(folder + "/golden.h5");
  const std::vector<std::string> keys = golden.ReadStrings("keys");
  const std::vector<int64_t> labels = golden.ReadInts("label"),
                             sizes = golden.ReadInts("data_size"),
                             floats = golden.ReadInts("float_count");
  ASSERT_EQ(database->Count(), static_cast<int64_t>(keys.size()));
  const auto cursor = database->NewCursor();
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(cursor->Next());
    EXPECT_EQ(cursor->key(), keys[i]);
    Datum datum;
    ASSERT_TRUE(datum.ParseFromString(std::string(cursor->value())));
    EXPECT_EQ(datum.label(), labels[i]);
    EXPECT_EQ(datum.float_data_size(), floats[i]);
    const size_t bytes = datum.data().size() + datum.float_data_size() * sizeof(float);
    EXPECT_EQ(static_cast<int64_t>(bytes), sizes[i]);
  }
}

}  // namespace
}  // namespace moka
