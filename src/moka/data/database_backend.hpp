#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "moka/data/database.hpp"

namespace moka {

/// What a backend writes with: one new, empty folder.
class DatabaseWriter::Sink {
 public:
  using Records = std::vector<std::pair<std::string, std::string>>;

  virtual ~Sink() = default;
  virtual void Write(const Records& records) = 0;
  /// Brings everything to the disk and closes the database.
  virtual void Finish() = 0;
};

std::shared_ptr<const Database> OpenLmdb(const std::string& path);
std::unique_ptr<DatabaseWriter::Sink> NewLmdbSink(const std::string& folder);

/// Without LevelDB in the build these two throw Error.
std::shared_ptr<const Database> OpenLevelDb(const std::string& path);
std::unique_ptr<DatabaseWriter::Sink> NewLevelDbSink(const std::string& folder);

}  // namespace moka
