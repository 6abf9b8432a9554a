#include <lmdb.h>

#include <algorithm>
#include <string>

#include "moka/base/error.hpp"
#include "moka/data/database_backend.hpp"
#include "moka/data/lmdb_file.hpp"

namespace moka {
namespace {

MDB_val Value(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

std::string_view View(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

void Check(int code, const std::string& place) {
  Require(code == MDB_SUCCESS, place, ": ", mdb_strerror(code));
}

/// An open environment.
class Environment {
 public:
  Environment(const std::string& folder, unsigned flags, size_t map_size) : folder_(folder) {
    Check(mdb_env_create(&env_), folder);
    int code = mdb_env_set_mapsize(env_, map_size);
    if (code == MDB_SUCCESS) code = mdb_env_open(env_, folder.c_str(), flags, 0666);
    if (code != MDB_SUCCESS) mdb_env_close(env_);
    Check(code, folder);
  }
  ~Environment() { mdb_env_close(env_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  MDB_env* get() const { return env_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  MDB_env* env_ = nullptr;
};

/// A transaction with the one table of records; aborted unless committed.
class Transaction {
 public:
  Transaction(const Environment& env, unsigned flags) {
    Check(mdb_txn_begin(env.get(), nullptr, flags, &transaction_), env.folder());
    const int code = mdb_dbi_open(transaction_, nullptr, 0, &table_);
    if (code != MDB_SUCCESS) mdb_txn_abort(transaction_);
    Check(code, env.folder());
  }
  ~Transaction() {
    if (transaction_) mdb_txn_abort(transaction_);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// The code of LMDB; the transaction is over in any case.
  int Commit() { return mdb_txn_commit(std::exchange(transaction_, nullptr)); }

  MDB_txn* get() const { return transaction_; }
  MDB_dbi table() const { return table_; }

 private:
  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
};

class LmdbCursor : public Database::Cursor {
 public:
  LmdbCursor(const Database& database, const Environment& env)
      : Cursor(database), transaction_(env, MDB_RDONLY) {
    Check(mdb_cursor_open(transaction_.get(), transaction_.table(), &cursor_), database.path());
  }
  ~LmdbCursor() override { mdb_cursor_close(cursor_); }

 protected:
  bool MoveToFirst() override { return Move({}, MDB_FIRST); }
  bool MoveToNext() override { return Move({}, MDB_NEXT); }
  bool MoveTo(std::string_view key) override { return Move(key, MDB_SET_KEY); }

 private:
  bool Move(std::string_view wanted, MDB_cursor_op operation) {
    MDB_val key = Value(wanted), value = {};
    const int code = mdb_cursor_get(cursor_, &key, &value, operation);
    if (code == MDB_NOTFOUND) return false;
    Check(code, database_.path());
    key_ = View(key);
    value_ = View(value);
    return true;
  }

  Transaction transaction_;
  MDB_cursor* cursor_ = nullptr;
};

class Lmdb : public Database {
 public:
  // Without locks, so that folders work that may not be written. The map is as large as the file,
  // not as its writer made it (Caffe: 1 TB), which some machines refuse.
  explicit Lmdb(const std::string& path)
      : Database(path),
        env_(path, MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, CheckLmdbFile(path + "/data.mdb")) {
    const Transaction transaction(env_, MDB_RDONLY);
    MDB_stat stat;
    Check(mdb_stat(transaction.get(), transaction.table(), &stat), path);
    count_ = static_cast<int64_t>(stat.ms_entries);
  }

  int64_t Count() const override { return count_; }

  std::unique_ptr<Cursor> NewCursor() const override {
    return std::make_unique<LmdbCursor>(*this, env_);
  }

 private:
  Environment env_;
  int64_t count_ = 0;
};

/// The map begins small and doubles whenever it is full.
class LmdbSink : public DatabaseWriter::Sink {
 public:
  // The folder is new and nobody else's: no lock, and one sync at the end.
  explicit LmdbSink(const std::string& folder)
      : env_(std::make_unique<Environment>(folder, MDB_NOLOCK | MDB_NOSYNC, map_size_)) {}

  void Write(const Records& records) override {
    int code;
    while ((code = TryToWrite(records)) == MDB_MAP_FULL) {
      map_size_ *= 2;
      Check(mdb_env_set_mapsize(env_->get(), map_size_), env_->folder());
    }
    Check(code, env_->folder());
    for (const auto& record : records) last_key_ = std::max(last_key_, record.first);
  }

  void Finish() override {
    Check(mdb_env_sync(env_->get(), 1), env_->folder());
    env_.reset();
  }

 private:
  int TryToWrite(const Records& records) {
    Transaction transaction(*env_, 0);
    std::string_view last = last_key_;
    for (const auto& [key, bytes] : records) {
      MDB_val name = Value(key), value = Value(bytes);
      // Appending fills pages whole; it is for keys that come in order.
      const unsigned flags = key > last ? MDB_APPEND : 0;
      last = std::max(last, std::string_view(key));
      const int code = mdb_put(transaction.get(), transaction.table(), &name, &value, flags);
      if (code == MDB_BAD_VALSIZE) {
        Fail(env_->folder(), ": an LMDB key has 1 to 511 bytes, and one has ", key.size());
      }
      if (code != MDB_SUCCESS) return code;
    }
    return transaction.Commit();
  }

  size_t map_size_ = 1 << 20;
  std::unique_ptr<Environment> env_;
  std::string last_key_;
};

}  // namespace

std::shared_ptr<const Database> OpenLmdb(const std::string& path) {
  return std::make_shared<Lmdb>(path);
}

std::unique_ptr<DatabaseWriter::Sink> NewLmdbSink(const std::string& folder) {
  return std::make_unique<LmdbSink>(folder);
}

}  // namespace moka
