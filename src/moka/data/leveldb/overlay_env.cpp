#include "moka/data/leveldb/overlay_env.hpp"

#include <algorithm>

namespace moka {
namespace {

using leveldb::Slice;
using leveldb::Status;

class MemoryReader : public leveldb::SequentialFile, public leveldb::RandomAccessFile {
 public:
  explicit MemoryReader(std::shared_ptr<const std::string> content)
      : content_(std::move(content)) {}

  Status Read(size_t count, Slice* result, char*) override {
    const Status status = Read(place_, count, result, nullptr);
    place_ += result->size();
    return status;
  }

  Status Skip(uint64_t count) override {
    place_ = std::min<uint64_t>(content_->size(), place_ + count);
    return Status::OK();
  }

  Status Read(uint64_t offset, size_t count, Slice* result, char*) const override {
    const uint64_t begin = std::min<uint64_t>(offset, content_->size());
    *result = Slice(content_->data() + begin, std::min<uint64_t>(count, content_->size() - begin));
    return Status::OK();
  }

 private:
  std::shared_ptr<const std::string> content_;
  uint64_t place_ = 0;
};

class MemoryWriter : public leveldb::WritableFile {
 public:
  explicit MemoryWriter(std::shared_ptr<std::string> content) : content_(std::move(content)) {}
  Status Append(const Slice& data) override {
    content_->append(data.data(), data.size());
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

 private:
  std::shared_ptr<std::string> content_;
};

class NoLock : public leveldb::FileLock {};

}  // namespace

void OverlayEnv::Close() {
  std::unique_lock<std::mutex> lock(mutex_);
  closed_ = true;
  while (!postponed_.empty()) {
    const auto [function, argument] = postponed_.back();
    postponed_.pop_back();
    lock.unlock();
    function(argument);
    lock.lock();
  }
}

OverlayEnv::Content OverlayEnv::Find(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = files_.find(name);
  return found == files_.end() ? nullptr : found->second;
}

bool OverlayEnv::Removed(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return removed_.count(name) > 0;
}

Status OverlayEnv::NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) {
  *file = nullptr;
  if (const Content content = Find(name)) {
    *file = new MemoryReader(content);
    return Status::OK();
  }
  return Removed(name) ? Status::NotFound(name) : target()->NewSequentialFile(name, file);
}

Status OverlayEnv::NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) {
  *file = nullptr;
  if (const Content content = Find(name)) {
    *file = new MemoryReader(content);
    return Status::OK();
  }
  return Removed(name) ? Status::NotFound(name) : target()->NewRandomAccessFile(name, file);
}

Status OverlayEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *file = nullptr;
  if (closed_) return Status::IOError(name, "is being closed");
  const Content content = std::make_shared<std::string>();
  files_[name] = content;
  removed_.erase(name);
  *file = new MemoryWriter(content);
  return Status::OK();
}

Status OverlayEnv::NewAppendableFile(const std::string& name, leveldb::WritableFile** file) {
  *file = nullptr;
  return Status::NotSupported(name);
}

bool OverlayEnv::FileExists(const std::string& name) {
  return Find(name) || (!Removed(name) && target()->FileExists(name));
}

Status OverlayEnv::GetChildren(const std::string& folder, std::vector<std::string>* names) {
  const Status status = target()->GetChildren(folder, names);
  const std::string prefix = folder + "/";
  names->erase(std::remove_if(names->begin(), names->end(),
                              [&](const std::string& name) { return Removed(prefix + name); }),
               names->end());
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [path, content] : files_) {
    if (path.compare(0, prefix.size(), prefix) == 0) names->push_back(path.substr(prefix.size()));
  }
  return status;
}

Status OverlayEnv::RemoveFile(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_.erase(name);
  removed_.insert(name);
  return Status::OK();
}

Status OverlayEnv::GetFileSize(const std::string& name, uint64_t* size) {
  if (const Content content = Find(name)) {
    *size = content->size();
    return Status::OK();
  }
  return Removed(name) ? Status::NotFound(name) : target()->GetFileSize(name, size);
}

Status OverlayEnv::RenameFile(const std::string& from, const std::string& to) {
  const Content content = Find(from);
  // LevelDB renames only what it wrote itself a moment ago, besides its own log of events.
  if (!content) return Status::NotFound(from);
  const std::lock_guard<std::mutex> lock(mutex_);
  files_[to] = content;
  files_.erase(from);
  removed_.erase(to);
  removed_.insert(from);
  return Status::OK();
}

Status OverlayEnv::LockFile(const std::string&, leveldb::FileLock** lock) {
  *lock = new NoLock;
  return Status::OK();
}

Status OverlayEnv::UnlockFile(leveldb::FileLock* lock) {
  delete lock;
  return Status::OK();
}

void OverlayEnv::Schedule(void (*function)(void*), void* argument) {
  const std::lock_guard<std::mutex> lock(mutex_);
  postponed_.emplace_back(function, argument);
}

}  // namespace moka
