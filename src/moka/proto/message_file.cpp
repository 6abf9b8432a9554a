#include "moka/proto/message_file.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/model_io.hpp"
#include "moka/proto/wire_scan.hpp"

namespace moka {
namespace {

/// What to do with a file of a kind in place of another.
std::string Advice(FileKind kind) {
  switch (kind) {
    case FileKind::kModel:
      return "weights are given as --weights=FILE";
    case FileKind::kSolverState:
      return "a state to resume from is given as --snapshot=FILE";
    case FileKind::kGitLfsPointer:
      return "fetch the file itself: git lfs pull";
    case FileKind::kWebPage:
      return "the download went wrong: fetch the file again";
    case FileKind::kArchive:
      return "unpack it first";
    case FileKind::kEmpty:
      return "the disk was full, or writing it was interrupted: take an older one";
    default:
      return "";
  }
}

}  // namespace

void ReadMessage(const std::string& path, const std::string& what,
                 google::protobuf::Message* message) {
  const WireScan scan = ScanWire(path);
  if (scan.CutShort()) {
    Fail(path, ": the ", what, " is cut short: it has ", scan.size,
         " bytes, but what begins at byte ", scan.records.back().begin, " ends at byte ",
         scan.records.back().end);
  }
  Require(scan.valid, path, ": the ", what, " is damaged: no field begins at byte ",
          scan.records.empty() ? 0 : scan.records.back().end);
  Require(scan.size <= kLargestMessage, path, ": ", HumanBytes(static_cast<double>(scan.size)),
          " are more than protobuf can read (2 GB): only an HDF5 file can be so large");
  std::ifstream file(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&file, 1 << 20);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(static_cast<int>(kLargestMessage));
  const bool read = message->ParsePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  Require(read, path, ": the ", what, " is damaged inside: it is whole, but cannot be understood");
}

void WriteMessage(const std::string& path, const google::protobuf::Message& message,
                  const std::string& head) {
  WriteAtomically(path, [&](const std::string& temporary) {
    std::ofstream file(temporary, std::ios::binary);
    file << head;
    if (!file.good() || !message.SerializePartialToOstream(&file) || !file.flush()) {
      Fail("cannot write ", head.size() + message.ByteSizeLong(), " bytes to ", path, ": ",
           std::strerror(errno));
    }
  });
}

void FailAtKind(const std::string& path, FileKind kind, const std::string& wanted) {
  Error error(Text(path, ": this is ", Describe(kind), ", where ", wanted, " is needed"));
  const std::string advice = Advice(kind);
  throw advice.empty() ? error : error.Hint(advice);
}

}  // namespace moka
