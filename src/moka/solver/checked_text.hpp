#pragma once

#include <string>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

namespace moka {

/// A prototxt with what its text says, and what is wrong with it.
class CheckedText {
 public:
  /// Throws Error when the file cannot be read.
  CheckedText(const std::string& path, const TextOptions& options);

  /// Reads the text into `message`, a NetParameter or a SolverParameter.
  void Parse(google::protobuf::Message* message);

  const std::string& path() const { return path_; }
  const std::vector<TextProblem>& problems() const { return problems_; }
  /// Whether all of it was understood, or at least read as it was probably meant.
  bool understood() const;

  /// Whether it is a solver rather than a net.
  bool IsSolver() const { return !WrongTextKind(text_, NetParameter()).empty(); }

  /// What is unknown about a net that was read from this text; `this` must outlive it.
  NetDoubts Doubts(const NetParameter& net) const;

 private:
  bool MayBeBlob(const std::string& name) const;

  std::string path_;
  TextOptions options_;
  std::string text_;
  std::vector<TextProblem> problems_;
};

}  // namespace moka
