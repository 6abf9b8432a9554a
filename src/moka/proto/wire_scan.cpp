#include "moka/proto/wire_scan.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "moka/base/error.hpp"

namespace moka {
namespace {

/// Reads a number of 7 bits a byte; false at the end of the file or when it is too long.
bool ReadVarint(std::istream* stream, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const int byte = stream->get();
    if (byte == std::istream::traits_type::eof()) return false;
    *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// Where the value that begins at `begin` ends; -1 when there can be no such value.
int64_t EndOfValue(std::istream* stream, int wire_type, int64_t begin) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  uint64_t number = 0;
  switch (wire_type) {
    case kVarint:
      return ReadVarint(stream, &number) ? static_cast<int64_t>(stream->tellg()) : -1;
    case 1:
      return begin + 8;
    case kWithLength:
      if (!ReadVarint(stream, &number) || number > kLongest) return -1;
      return static_cast<int64_t>(stream->tellg()) + static_cast<int64_t>(number);
    case 5:
      return begin + 4;
    default:
      return -1;
  }
}

}  // namespace

WireScan ScanWire(const std::string& path, size_t most) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream.good()) Fail(path, ": ", std::strerror(errno));
  WireScan scan;
  stream.seekg(0, std::ios::end);
  scan.size = stream.tellg();
  int64_t position = 0;
  while (position < scan.size && scan.records.size() < most) {
    stream.seekg(position);
    uint64_t tag = 0;
    scan.valid = ReadVarint(&stream, &tag) && tag >= 8 && tag <= UINT32_MAX;
    if (!scan.valid) break;
    WireRecord record{static_cast<int>(tag >> 3), static_cast<int>(tag & 7), position, 0};
    record.end = EndOfValue(&stream, record.wire_type, stream.tellg());
    scan.valid = record.end >= 0;
    if (!scan.valid) break;
    scan.records.push_back(record);
    position = record.end;
  }
  return scan;
}

}  // namespace moka
