#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "moka/proto/moka.pb.h"

namespace moka {

/// The backend called `name` ("lmdb" or "leveldb", in any case). Throws Error for another name.
DataParameter::DB DatabaseBackendNamed(const std::string& name);

/// Many keys in one piece of memory, by number.
class KeyIndex {
 public:
  void Add(std::string_view key);
  std::string_view operator[](int64_t position) const;
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }

 private:
  std::string bytes_;
  std::vector<uint64_t> ends_;
};

/// A database of records, opened to be read: a folder with an LMDB or a LevelDB in it, as Caffe's
/// convert_imageset writes them. Nothing in the folder is changed or locked, so read-only media and
/// several processes work. Records are numbered in the byte order of their keys.
///
/// All methods may be called from several threads at once; a Cursor belongs to one thread.
class Database {
 public:
  class Cursor;

  /// Opens the folder `path`. Opening it again while it is open gives the same Database.
  ///
  /// Throws Error with the absolute path and what is wrong: no such directory, no permission, a
  /// database of the other kind, no database at all, a truncated file.
  static std::shared_ptr<const Database> Open(const std::string& path, DataParameter::DB backend);

  virtual ~Database() = default;

  /// The absolute path of the folder.
  const std::string& path() const { return path_; }

  /// Number of records. An LMDB knows it; a LevelDB is walked once, at the first call.
  virtual int64_t Count() const { return Index().size(); }

  /// A cursor before the first record. The database must outlive it.
  virtual std::unique_ptr<Cursor> NewCursor() const = 0;

 protected:
  explicit Database(std::string path) : path_(std::move(path)) {}

 private:
  /// All keys in order, gathered by the first call.
  const KeyIndex& Index() const;

  std::string path_;
  mutable std::once_flag index_once_;
  mutable std::atomic<bool> indexed_{false};
  mutable KeyIndex index_;
};

/// A place in a database. Going on to a near record costs a few steps; the first far jump gathers
/// the keys of all records (not their values), which every later jump uses.
class Database::Cursor {
 public:
  virtual ~Cursor() = default;

  /// Goes to record `position` (0 is the first). Throws Error past the end.
  void Seek(int64_t position);

  /// Goes to the next record, or from before the first to the first; false at the end.
  bool Next();

  /// The record that the cursor is at; valid until the cursor moves.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  /// `/data/train_lmdb: record "00000012"`, to stand in front of an error about the record.
  std::string Describe() const;

 protected:
  explicit Cursor(const Database& database) : database_(database) {}

  /// Each moves and sets key_ and value_, or returns false where there is no such record.
  virtual bool MoveToFirst() = 0;
  virtual bool MoveToNext() = 0;
  virtual bool MoveTo(std::string_view key) = 0;

  const Database& database_;
  std::string_view key_, value_;

 private:
  int64_t position_ = -1;
};

/// Writes a new database. It grows by itself and appears at its path, whole, with Commit; without
/// one the destructor removes what was written.
class DatabaseWriter {
 public:
  /// Writes in the order of the calls to Put; not to be used by anyone but DatabaseWriter.
  class Sink;

  /// Begins a database that is to stand at `path`. Throws Error when something stands there and
  /// `overwrite` is false, or when the folder above is missing or may not be written.
  DatabaseWriter(const std::string& path, DataParameter::DB backend, bool overwrite = false);
  ~DatabaseWriter();
  DatabaseWriter(const DatabaseWriter&) = delete;
  DatabaseWriter& operator=(const DatabaseWriter&) = delete;

  /// Adds a record; one with the same key is replaced. LMDB takes keys of 1 to 511 bytes.
  void Put(std::string_view key, std::string_view value);

  /// Makes the database appear at its path. Nothing may be put afterwards.
  void Commit();

 private:
  using Record = std::pair<std::string, std::string>;

  void Flush();

  std::string path_, temporary_;
  bool overwrite_;
  std::unique_ptr<Sink> sink_;
  std::vector<Record> pending_;
  size_t pending_bytes_ = 0;
};

}  // namespace moka
