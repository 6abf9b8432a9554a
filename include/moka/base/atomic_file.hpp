#pragma once

#include <functional>
#include <string>

namespace moka {

/// A file that is written over some time and appears at its path whole, with Commit; without one
/// the destructor removes what was written. What stood at the path before is intact until then.
class PendingFile {
 public:
  explicit PendingFile(std::string path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Where to write: a file beside the path, which nobody else writes.
  const std::string& temporary() const { return temporary_; }

  /// Syncs what was written to disk and renames it. Throws Error with the path and the system's
  /// reason (disk full, no such directory, ...).
  void Commit();

 private:
  std::string path_, temporary_;
  bool committed_ = false;
};

/// Writes a file whole or not at all: `write(temporary)` writes a temporary file beside `path`,
/// which is then synced to disk and renamed to `path`. On any failure the temporary file is removed
/// and what stood at `path` before is intact.
///
/// Throws Error with the path and the system's reason (disk full, no such directory, ...); errors
/// thrown by `write` pass through.
void WriteAtomically(const std::string& path,
                     const std::function<void(const std::string& temporary)>& write);

/// Writes `bytes` to `path`, whole or not at all.
void WriteFileAtomically(const std::string& path, const std::string& bytes);

/// The whole content of a file. Throws Error when it cannot be read, MissingFile when there is
/// none.
std::string ReadFile(const std::string& path);

}  // namespace moka
