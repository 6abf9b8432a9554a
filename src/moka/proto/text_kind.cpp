#include "moka/proto/text_kind.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "moka/base/strings.hpp"

namespace moka {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

struct Signature {
  size_t offset;
  std::string bytes;
  const char* kind;
};

const Signature kSignatures[] = {
    {0, "\x89HDF\r\n\x1a\n", "an HDF5 file"},
    {16, "\xDE\xC0\xEF\xBE", "the data file of an LMDB database"},
    {0, "\x89PNG", "a PNG picture"},
    {0, "\xFF\xD8\xFF", "a JPEG picture"},
    {0, "PK\x03\x04", "a zip archive"},
    {0, "\x1f\x8b", "a gzip archive"},
    {0,
     "\x7f"
     "ELF",
     "a program or shared library"},
    {0, "\xFF\xFE", "UTF-16 text: save it as UTF-8"},
    {0, "\xFE\xFF", "UTF-16 text: save it as UTF-8"},
};

/// Whether the bytes are fields of a message, one after the other to the end.
bool IsWireFormat(const std::string& bytes) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                         static_cast<int>(bytes.size()));
  while (const uint32_t tag = input.ReadTag()) {
    if (!WireFormatLite::SkipField(&input, tag)) return false;
  }
  return input.ConsumedEntireMessage();
}

std::string BinaryKind(const std::string& bytes) {
  for (const Signature& signature : kSignatures) {
    if (bytes.size() > signature.offset &&
        bytes.compare(signature.offset, signature.bytes.size(), signature.bytes) == 0) {
      return signature.kind;
    }
  }
  return IsWireFormat(bytes) ? "a binary protobuf message, such as a caffemodel" : "";
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < ' ' && !(c >= '\t' && c <= '\r'); }

/// A text has no zero bytes and hardly any control characters.
bool IsBinary(const std::string& bytes) {
  const auto controls = std::count_if(bytes.begin(), bytes.end(), IsControl);
  return bytes.find('\0') != std::string::npos || controls * size_t{20} > bytes.size();
}

}  // namespace

std::string WhyNotPrototxt(const std::string& text) {
  if (IsBinary(text)) {
    const std::string kind = BinaryKind(text);
    return "this is not a text file" + (kind.empty() ? "" : "; it seems to be " + kind);
  }
  if (StartsWith(text, "version https://git-lfs.github.com/spec/")) {
    return "this is a git-lfs pointer, not the file it stands for: fetch that with `git lfs pull`";
  }
  const size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  if (text.compare(start, 9, "<!DOCTYPE") == 0 || text.compare(start, 9, "<!doctype") == 0 ||
      text.compare(start, 5, "<html") == 0) {
    return "this is a web page, not a prototxt: download the raw file";
  }
  return "";
}

bool IsUtf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = text[i++];
    // Leads that no shortest form within Unicode has (0xC0, 0xC1, 0xF5 up) count as wrong.
    const int more = lead < 0x80                    ? 0
                     : lead >= 0xC2 && lead <= 0xDF ? 1
                     : lead >= 0xE0 && lead <= 0xEF ? 2
                     : lead >= 0xF0 && lead <= 0xF4 ? 3
                                                    : -1;
    if (more < 0) return false;
    for (int k = 0; k < more; ++k, ++i) {
      if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return false;
    }
  }
  return true;
}

int MergeConflictLine(const std::string& text) {
  size_t at = text.find("<<<<<<< ");
  while (at != std::string::npos && at > 0 && text[at - 1] != '\n') {
    at = text.find("<<<<<<< ", at + 1);
  }
  if (at == std::string::npos) return 0;
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
}

}  // namespace moka
