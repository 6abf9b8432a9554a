#include "moka/proto/file_kind.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/wire_scan.hpp"

namespace moka {
namespace {

namespace fs = std::filesystem;

std::string Head(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream.good()) Fail(path, ": ", std::strerror(errno));
  std::string head(4096, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(stream.gcount()));
  return head;
}

FileKind KindOfFolder(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(fs::path(path) / "data.mdb", ignored)) return FileKind::kLmdb;
  if (fs::exists(fs::path(path) / "CURRENT", ignored)) return FileKind::kLevelDb;
  return FileKind::kFolder;
}

/// Files known by the bytes they begin with; kUnknown for all others.
FileKind KindByMagic(const std::string& head) {
  const auto begins = [&](const std::string& magic) { return StartsWith(head, magic); };
  if (begins("\x89HDF\r\n\x1A\n")) return FileKind::kHdf5;
  if (begins("version https://git-lfs")) return FileKind::kGitLfsPointer;
  if (begins("\x1F\x8B") || begins("PK\x03\x04") || begins("BZh") || begins("7z\xBC\xAF") ||
      begins("\xFD"
             "7zXZ")) {
    return FileKind::kArchive;
  }
  if (begins("\xFF\xD8\xFF") || begins("\x89PNG")) return FileKind::kPicture;
  if (begins("<!DOCTYPE") || begins("<!doctype") || begins("<html") || begins("<HTML")) {
    return FileKind::kWebPage;
  }
  // An LMDB's first page: a header of 16 bytes, then the magic number 0xBEEFC0DE.
  if (head.size() > 20 && head.compare(16, 4, "\xDE\xC0\xEF\xBE") == 0) return FileKind::kLmdb;
  return FileKind::kUnknown;
}

bool IsText(const std::string& head) {
  return std::none_of(head.begin(), head.end(), [](unsigned char c) {
    return c == 127 || (c < 32 && (c < '\t' || c > '\r'));
  });
}

/// Tells Caffe's binary messages apart by the fields at their top level.
FileKind KindOfMessage(const WireScan& scan) {
  const auto has = [&](int field, int wire_type) {
    return std::any_of(scan.records.begin(), scan.records.end(), [&](const WireRecord& record) {
      return record.field == field && record.wire_type == wire_type;
    });
  };
  if (scan.records.empty()) return FileKind::kUnknown;
  const WireRecord& first = scan.records[0];
  if (first.field == SolverState::kCrcFieldNumber) return FileKind::kSolverState;
  // A mean is written data first (5) or shape first (7); old ones begin with num (1).
  if (has(5, kWithLength) && !has(100, kWithLength) && (has(2, kVarint) || has(7, kWithLength))) {
    return FileKind::kBlob;
  }
  if (first.field == 1 && first.wire_type == kVarint) {
    return has(2, kWithLength) || has(3, kWithLength) ? FileKind::kSolverState : FileKind::kUnknown;
  }
  const bool layers = has(100, kWithLength) || has(2, kWithLength);
  return layers && (first.field <= 20 || first.field == 100) ? FileKind::kModel
                                                             : FileKind::kUnknown;
}

}  // namespace

FileKind KindOf(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  Require(fs::exists(status), path, ": ", error ? error.message() : "no such file");
  if (fs::is_directory(status)) return KindOfFolder(path);
  const std::string head = Head(path);
  if (head.empty()) return FileKind::kEmpty;
  const FileKind kind = KindByMagic(head);
  if (kind != FileKind::kUnknown) return kind;
  if (IsText(head)) return FileKind::kText;
  return KindOfMessage(ScanWire(path));
}

std::string Describe(FileKind kind) {
  switch (kind) {
    case FileKind::kModel:
      return "a model (caffemodel)";
    case FileKind::kSolverState:
      return "a solver state";
    case FileKind::kBlob:
      return "a single blob (binaryproto, as a mean is stored)";
    case FileKind::kHdf5:
      return "an HDF5 file";
    case FileKind::kText:
      return "a text (prototxt?)";
    case FileKind::kEmpty:
      return "an empty file";
    case FileKind::kFolder:
      return "a folder";
    case FileKind::kLmdb:
      return "an LMDB database";
    case FileKind::kLevelDb:
      return "a LevelDB database";
    case FileKind::kGitLfsPointer:
      return "a Git LFS pointer, not the file it stands for";
    case FileKind::kWebPage:
      return "a web page";
    case FileKind::kArchive:
      return "an archive";
    case FileKind::kPicture:
      return "a picture";
    case FileKind::kUnknown:
      break;
  }
  return "of no known kind";
}

}  // namespace moka
