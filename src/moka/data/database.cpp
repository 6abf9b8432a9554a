#include "moka/data/database.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <tuple>

#include "moka/base/error.hpp"
#include "moka/data/database_backend.hpp"

namespace moka {
namespace {

namespace fs = std::filesystem;

// Stepping over a record costs less than finding it by its key, if there are few to step over.
// Without an index there are many more steps in what gathering one would cost.
constexpr int64_t kStepsWithIndex = 8;
constexpr int64_t kStepsWithoutIndex = 4096;

const char* NameOf(DataParameter::DB backend) {
  return backend == DataParameter::LMDB ? "an LMDB" : "a LevelDB";
}

std::string Absolute(const std::string& path) {
  fs::path absolute = fs::absolute(path).lexically_normal();
  return (absolute.has_filename() ? absolute : absolute.parent_path()).string();
}

void CheckAccess(const std::string& path, int mode) {
  if (access(path.c_str(), mode) != 0) Fail(path, ": ", std::strerror(errno));
}

struct stat StatusOf(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT) {
    MissingFile error(path + ": no such directory");
    error.Hint("databases are folders");
    throw error;
  }
  Fail(path, ": ", std::strerror(errno));
}

/// Throws unless the folder looks like a database of this backend.
void CheckFolder(const std::string& path, DataParameter::DB backend) {
  Require(S_ISDIR(StatusOf(path).st_mode), path, ": is a file, and a database is a folder");
  CheckAccess(path, R_OK | X_OK);
  const bool lmdb = fs::exists(path + "/data.mdb"), leveldb = fs::exists(path + "/CURRENT");
  if (backend == DataParameter::LMDB ? lmdb : leveldb) {
    CheckAccess(path + (backend == DataParameter::LMDB ? "/data.mdb" : "/CURRENT"), R_OK);
  } else if (lmdb || leveldb) {
    throw Error(Text(path, ": is ", NameOf(lmdb ? DataParameter::LMDB : DataParameter::LEVELDB),
                     ", not ", NameOf(backend)))
        .Hint(lmdb ? "set backend: LMDB" : "set backend: LEVELDB");
  } else {
    throw Error(path + ": holds neither an LMDB (data.mdb) nor a LevelDB (CURRENT)")
        .Hint("was the conversion that should have written it interrupted?");
  }
}

void RenameOrFail(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  Fail(to, ": cannot be put in place: ", std::strerror(errno));
}

}  // namespace

DataParameter::DB DatabaseBackendNamed(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  DataParameter::DB backend;
  Require(DataParameter::DB_Parse(upper, &backend), "no database backend \"", name,
          "\": there are lmdb and leveldb");
  return backend;
}

void KeyIndex::Add(std::string_view key) {
  bytes_.append(key);
  ends_.push_back(bytes_.size());
}

std::string_view KeyIndex::operator[](int64_t position) const {
  const uint64_t begin = position == 0 ? 0 : ends_[position - 1];
  return std::string_view(bytes_).substr(begin, ends_[position] - begin);
}

std::shared_ptr<const Database> Database::Open(const std::string& path, DataParameter::DB backend) {
  const std::string absolute = Absolute(path);
  CheckFolder(absolute, backend);
  // LMDB and LevelDB want each database opened once a process.
  static std::mutex mutex;
  static std::map<std::tuple<dev_t, ino_t, DataParameter::DB>, std::weak_ptr<const Database>> open;
  const std::lock_guard<std::mutex> lock(mutex);
  const struct stat status = StatusOf(absolute);
  auto& known = open[{status.st_dev, status.st_ino, backend}];
  std::shared_ptr<const Database> database = known.lock();
  if (!database) {
    database = backend == DataParameter::LMDB ? OpenLmdb(absolute) : OpenLevelDb(absolute);
    known = database;
  }
  return database;
}

const KeyIndex& Database::Index() const {
  std::call_once(index_once_, [this] {
    index_ = KeyIndex();
    const std::unique_ptr<Cursor> cursor = NewCursor();
    while (cursor->Next()) index_.Add(cursor->key());
    indexed_ = true;
  });
  return index_;
}

bool Database::Cursor::Next() {
  const bool moved = position_ < 0 ? MoveToFirst() : MoveToNext();
  if (moved) ++position_;
  return moved;
}

void Database::Cursor::Seek(int64_t position) {
  const int64_t count = database_.Count();
  Require(position >= 0 && position < count, database_.path(), ": no record ", position, " among ",
          count);
  const int64_t most_steps = database_.indexed_ ? kStepsWithIndex : kStepsWithoutIndex;
  const int64_t steps = position - position_;
  if (steps == 0) return;
  if (position == 0 || (steps > 0 && steps <= most_steps)) {
    if (position == 0) position_ = -1;
    while (position_ < position) {
      Require(Next(), database_.path(), ": ends before record ", position, " of ", count);
    }
  } else {
    const std::string_view key = database_.Index()[position];
    Require(MoveTo(key), database_.path(), ": record ", position, " of ", count, " is gone");
    position_ = position;
  }
}

std::string Database::Cursor::Describe() const {
  std::string text = database_.path() + ": record \"";
  for (const unsigned char c : key_) {
    if (std::isprint(c)) {
      text += static_cast<char>(c);
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
      text += escaped;
    }
  }
  return text + '"';
}

DatabaseWriter::DatabaseWriter(const std::string& path, DataParameter::DB backend, bool overwrite)
    : path_(Absolute(path)), temporary_(Text(path_, ".writing-", getpid())), overwrite_(overwrite) {
  std::error_code problem;
  if (fs::exists(fs::symlink_status(path_, problem)) && !overwrite) {
    throw Error(path_ + ": exists already").Hint("remove it, or choose another name");
  }
  fs::remove_all(temporary_, problem);
  fs::create_directory(temporary_, problem);
  if (problem) Fail(path_, ": cannot be written: ", problem.message());
  try {
    sink_ = backend == DataParameter::LMDB ? NewLmdbSink(temporary_) : NewLevelDbSink(temporary_);
  } catch (...) {
    fs::remove_all(temporary_, problem);
    throw;
  }
}

DatabaseWriter::~DatabaseWriter() {
  sink_.reset();
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

void DatabaseWriter::Put(std::string_view key, std::string_view value) {
  constexpr size_t kFlushBytes = 16 << 20;
  pending_.emplace_back(key, value);
  pending_bytes_ += key.size() + value.size();
  if (pending_bytes_ >= kFlushBytes) Flush();
}

void DatabaseWriter::Flush() {
  sink_->Write(pending_);
  pending_.clear();
  pending_bytes_ = 0;
}

void DatabaseWriter::Commit() {
  Flush();
  sink_->Finish();
  if (overwrite_ && fs::exists(path_)) {
    const std::string old = Text(path_, ".old-", getpid());
    RenameOrFail(path_, old);
    RenameOrFail(temporary_, path_);
    std::error_code ignored;
    fs::remove_all(old, ignored);
  } else {
    RenameOrFail(temporary_, path_);
  }
}

}  // namespace moka
