#pragma once

#include <string>

namespace moka {

/// What a file is, judged by its content, whatever its name.
enum class FileKind {
  kModel,        ///< weights: a binary NetParameter (.caffemodel)
  kSolverState,  ///< a binary SolverState (.solverstate)
  kBlob,         ///< a binary BlobProto (mean.binaryproto)
  kHdf5,
  kText,
  kEmpty,
  kFolder,
  kLmdb,
  kLevelDb,
  kGitLfsPointer,
  kWebPage,
  kArchive,
  kPicture,
  kUnknown,
};

/// Looks into the file at `path`. Throws when it does not exist or cannot be read.
FileKind KindOf(const std::string& path);

/// "a text file (prototxt?)", "an LMDB database", ...
std::string Describe(FileKind kind);

}  // namespace moka
