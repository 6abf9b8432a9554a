#include "moka/base/error.hpp"
#include "moka/data/database_backend.hpp"

namespace moka {
namespace {

[[noreturn]] void FailWithoutLevelDb(const std::string& path) {
  throw Error(path + ": this moka was built without LevelDB")
      .Hint("install libleveldb-dev and build again, or use an LMDB");
}

}  // namespace

std::shared_ptr<const Database> OpenLevelDb(const std::string& path) { FailWithoutLevelDb(path); }

std::unique_ptr<DatabaseWriter::Sink> NewLevelDbSink(const std::string& folder) {
  FailWithoutLevelDb(folder);
}

}  // namespace moka
