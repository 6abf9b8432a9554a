#pragma once

#include <leveldb/env.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moka {

/// The file system that a LevelDB is opened on to be read. LevelDB writes when it opens: it turns
/// its log into tables, starts a new manifest and removes old files. Here all that happens in
/// memory over the real files, which stay as they are; and nothing is locked, so that several
/// processes can read one database.
///
/// Tables are never merged in the background, which would copy the whole database into memory.
class OverlayEnv : public leveldb::EnvWrapper {
 public:
  using Status = leveldb::Status;

  OverlayEnv() : EnvWrapper(leveldb::Env::Default()) {}

  /// Lets the work end that LevelDB waits for when it is closed: whatever is still to be done finds
  /// that it can write no more. To be called just before the database is deleted.
  void Close();

  Status NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) override;
  Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override;
  Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;
  Status NewAppendableFile(const std::string& name, leveldb::WritableFile** file) override;
  bool FileExists(const std::string& name) override;
  Status GetChildren(const std::string& folder, std::vector<std::string>* names) override;
  Status RemoveFile(const std::string& name) override;
  Status CreateDir(const std::string&) override { return Status::OK(); }
  Status RemoveDir(const std::string&) override { return Status::OK(); }
  Status GetFileSize(const std::string& name, uint64_t* size) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LockFile(const std::string& name, leveldb::FileLock** lock) override;
  Status UnlockFile(leveldb::FileLock* lock) override;
  void Schedule(void (*function)(void*), void* argument) override;

 private:
  using Content = std::shared_ptr<std::string>;

  /// The content of a file in memory, or null.
  Content Find(const std::string& name);
  bool Removed(const std::string& name);

  std::mutex mutex_;
  std::map<std::string, Content> files_;
  std::set<std::string> removed_;
  std::vector<std::pair<void (*)(void*), void*>> postponed_;
  bool closed_ = false;
};

}  // namespace moka
