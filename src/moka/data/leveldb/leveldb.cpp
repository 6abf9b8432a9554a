#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include "moka/base/error.hpp"
#include "moka/data/database_backend.hpp"
#include "moka/data/leveldb/overlay_env.hpp"

namespace moka {
namespace {

void Check(const leveldb::Status& status, const std::string& place) {
  Require(status.ok(), place, ": ", status.ToString());
}

std::string_view View(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

class LevelDbCursor : public Database::Cursor {
 public:
  LevelDbCursor(const Database& database, leveldb::DB* db) : Cursor(database) {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    iterator_.reset(db->NewIterator(options));
  }

 protected:
  bool MoveToFirst() override {
    iterator_->SeekToFirst();
    return Take();
  }

  bool MoveToNext() override {
    if (iterator_->Valid()) iterator_->Next();
    return Take();
  }

  bool MoveTo(std::string_view key) override {
    iterator_->Seek({key.data(), key.size()});
    return Take() && key_ == key;
  }

 private:
  bool Take() {
    Check(iterator_->status(), database_.path());
    if (!iterator_->Valid()) return false;
    key_ = View(iterator_->key());
    value_ = View(iterator_->value());
    return true;
  }

  std::unique_ptr<leveldb::Iterator> iterator_;
};

class LevelDb : public Database {
 public:
  explicit LevelDb(const std::string& path) : Database(path) {
    leveldb::Options options;
    options.env = &env_;
    options.info_log = &silence_;
    options.max_open_files = 100;
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, path, &db);
    db_.reset(db);
    Check(status, path);
  }

  ~LevelDb() override { env_.Close(); }

  std::unique_ptr<Cursor> NewCursor() const override {
    return std::make_unique<LevelDbCursor>(*this, db_.get());
  }

 private:
  struct Silence : leveldb::Logger {
    void Logv(const char*, std::va_list) override {}
  };

  Silence silence_;
  OverlayEnv env_;
  std::unique_ptr<leveldb::DB> db_;
};

class LevelDbSink : public DatabaseWriter::Sink {
 public:
  explicit LevelDbSink(const std::string& folder) : folder_(folder) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.block_size = 64 << 10;
    options.write_buffer_size = 64 << 20;
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, folder, &db);
    db_.reset(db);
    Check(status, folder);
  }

  void Write(const Records& records) override {
    leveldb::WriteBatch batch;
    for (const auto& [key, value] : records) batch.Put(key, value);
    Check(db_->Write({}, &batch), folder_);
  }

  void Finish() override {
    leveldb::WriteOptions sync;
    sync.sync = true;
    leveldb::WriteBatch nothing;
    Check(db_->Write(sync, &nothing), folder_);
    db_.reset();
  }

 private:
  std::string folder_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::shared_ptr<const Database> OpenLevelDb(const std::string& path) {
  return std::make_shared<LevelDb>(path);
}

std::unique_ptr<DatabaseWriter::Sink> NewLevelDbSink(const std::string& folder) {
  return std::make_unique<LevelDbSink>(folder);
}

}  // namespace moka
