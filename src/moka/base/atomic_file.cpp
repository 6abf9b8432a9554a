#include "moka/base/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "moka/base/error.hpp"

namespace moka {
namespace {

void Sync(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags);
  Require(file >= 0, "cannot open ", path, ": ", std::strerror(errno));
  const int failed = fsync(file);
  const int reason = errno;
  close(file);
  // Some file systems cannot sync a directory; the rename is then as safe as they make it.
  Require(failed == 0 || reason == EINVAL, "cannot sync ", path, ": ", std::strerror(reason));
}

/// The file that a path stands for, through symbolic links. Renaming puts a file in place of
/// whatever is there: never of a device or a pipe.
std::string Target(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  Require(!std::filesystem::is_directory(status), "cannot write ", path, ": it is a directory");
  Require(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status),
          "cannot write ", path, ": it is a device or a pipe, not a file");
  const bool link = std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored));
  return link ? std::filesystem::weakly_canonical(path).string() : path;
}

}  // namespace

PendingFile::PendingFile(std::string path) : path_(Target(path)) {
  static std::atomic<int> number{0};
  temporary_ = Text(path_, ".tmp", getpid(), "_", number++);
}

PendingFile::~PendingFile() {
  if (!committed_) std::remove(temporary_.c_str());
}

void PendingFile::Commit() {
  Sync(temporary_, O_RDONLY);
  committed_ = std::rename(temporary_.c_str(), path_.c_str()) == 0;
  Require(committed_, "cannot rename ", temporary_, " to ", path_, ": ", std::strerror(errno));
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  Sync(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

void WriteAtomically(const std::string& path,
                     const std::function<void(const std::string& temporary)>& write) {
  PendingFile file(path);
  write(file.temporary());
  file.Commit();
}

void WriteFileAtomically(const std::string& path, const std::string& bytes) {
  WriteAtomically(path, [&](const std::string& temporary) {
    std::ofstream stream(temporary, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.flush();
    Require(stream.good(), "cannot write ", bytes.size(), " bytes to ", path, ": ",
            std::strerror(errno));
  });
}

std::string ReadFile(const std::string& path) {
  std::error_code ignored;
  Require(!std::filesystem::is_directory(path, ignored), path, " is a directory, not a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream.good()) {
    const int reason = errno;
    const std::string message = Text("cannot open ", path, ": ", std::strerror(reason));
    if (reason == ENOENT) throw MissingFile(message);
    throw Error(message);
  }
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

}  // namespace moka
