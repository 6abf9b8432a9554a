#include "moka/proto/file_kind.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

class FileKindTest : public testing::Test {
 protected:
  FileKind KindOfBytes(const std::string& bytes) {
    WriteFile(folder_ / "file", bytes);
    return KindOf(folder_ / "file");
  }

  ScratchFolder folder_;
};

TEST_F(FileKindTest, FilesWrittenByCaffeAreKnown) {
  const auto kind = [&](const char* group, const char* name, const char* file) {
    return KindOfBytes(GoldenCase(group, name).File(file));
  };
  EXPECT_EQ(kind("io", "caffemodel_modern", "weights.caffemodel"), FileKind::kModel);
  EXPECT_EQ(kind("io", "caffemodel_v1_layers", "weights.caffemodel"), FileKind::kModel);
  EXPECT_EQ(kind("invalid", "weights_truncated", "w.caffemodel"), FileKind::kModel);
  EXPECT_EQ(kind("solver", "adam_step", "snap_iter_10.solverstate"), FileKind::kSolverState);
  EXPECT_EQ(kind("solver", "adam_hdf5_snapshot", "snap_iter_10.solverstate.h5"), FileKind::kHdf5);
  EXPECT_EQ(kind("solver", "adam_step", "solver.prototxt"), FileKind::kText);
  EXPECT_EQ(kind("data", "mean_lmdb_raw", "mean.binaryproto"), FileKind::kBlob);
  EXPECT_EQ(kind("data", "db_lmdb_raw", "db/data.mdb"), FileKind::kLmdb);
  EXPECT_EQ(kind("invalid", "weights_garbage", "w.caffemodel"), FileKind::kUnknown);
}

TEST_F(FileKindTest, BlobsOfTodayAreKnown) {
  BlobProto blob;
  blob.mutable_shape()->add_dim(2);
  blob.add_data(1);
  blob.add_data(2);
  EXPECT_EQ(KindOfBytes(blob.SerializeAsString()), FileKind::kBlob);
}

TEST_F(FileKindTest, OtherThingsAreKnownByTheirFirstBytes) {
  EXPECT_EQ(KindOfBytes(""), FileKind::kEmpty);
  EXPECT_EQ(KindOfBytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"),
            FileKind::kGitLfsPointer);
  EXPECT_EQ(KindOfBytes("<!DOCTYPE html><html>404</html>"), FileKind::kWebPage);
  EXPECT_EQ(KindOfBytes("PK\x03\x04 zip"), FileKind::kArchive);
  EXPECT_EQ(KindOfBytes("\x89PNG\r\n\x1A\n"), FileKind::kPicture);
  EXPECT_EQ(KindOfBytes("\xEF\xBB\xBFname: \"caf\xC3\xA9\"\r\n"), FileKind::kText);
}

TEST_F(FileKindTest, FoldersAreKnownByWhatIsInThem) {
  EXPECT_EQ(KindOf(folder_.path()), FileKind::kFolder);
  std::filesystem::create_directory(folder_ / "leveldb");
  WriteFile(folder_ / "leveldb/CURRENT", "MANIFEST-000002\n");
  EXPECT_EQ(KindOf(folder_ / "leveldb"), FileKind::kLevelDb);
  WriteFile(folder_ / "data.mdb", "");
  EXPECT_EQ(KindOf(folder_.path()), FileKind::kLmdb);
}

TEST_F(FileKindTest, MissingFileIsAnError) {
  try {
    KindOf(folder_ / "nothing");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), folder_ / "nothing: No such file or directory");
  }
}

}  // namespace
}  // namespace moka
