#pragma once

#include <cstdint>
#include <string>

namespace moka {

/// Checks an LMDB's data file before it is mapped, for reading a mapped page past the end of the
/// file kills the process. Returns the file's size.
///
/// Throws Error when the file is empty, is no LMDB, or ends before a page that is in use.
int64_t CheckLmdbFile(const std::string& file);

}  // namespace moka
