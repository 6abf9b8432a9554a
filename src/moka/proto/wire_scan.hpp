#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace moka {

/// One field at the top level of a serialized message.
struct WireRecord {
  int field;
  int wire_type;  ///< protobuf's: 0 varint, 1 fixed64, 2 with a length, 5 fixed32
  int64_t begin;  ///< position of the tag
  int64_t end;    ///< position behind the value; may lie behind the end of a file cut short
};

constexpr int kVarint = 0;
constexpr int kWithLength = 2;

/// The fields at the top level of a serialized message, found without reading the values.
struct WireScan {
  std::vector<WireRecord> records;
  int64_t size = 0;   ///< of the file
  bool valid = true;  ///< false when something that is no field was met behind the records

  bool CutShort() const { return !records.empty() && records.back().end > size; }
};

/// Scans the file at `path`, but at most `most` records. Throws when it cannot be read.
WireScan ScanWire(const std::string& path, size_t most = SIZE_MAX);

}  // namespace moka
