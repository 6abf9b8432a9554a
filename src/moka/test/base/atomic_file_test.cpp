#include "moka/base/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "moka/base/error.hpp"
#include "moka/test/golden.hpp"

namespace moka {
namespace {

TEST(AtomicFile, IsWrittenThroughASymbolicLink) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "data");
  WriteFileAtomically(folder / "data/file", "old");
  std::filesystem::create_symlink("data/file", folder / "link");
  WriteFileAtomically(folder / "link", "new");
  EXPECT_EQ(ReadFile(folder / "data/file"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(AtomicFile, TakesNoPlaceOfAPipeOrADirectory) {
  const ScratchFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder / "data");
  EXPECT_THROW(WriteFileAtomically(folder / "pipe", "x"), Error);
  EXPECT_THROW(WriteFileAtomically(folder / "data", "x"), Error);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "data"));
}

}  // namespace
}  // namespace moka
