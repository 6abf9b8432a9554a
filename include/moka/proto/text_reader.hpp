#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace moka {

/// How a prototxt is read.
struct TextOptions {
  /// Unknown fields and unknown values of enumerations are warnings, and are left out.
  bool lenient = false;
};

/// Something wrong, or worth saying, at a place of a text. Line and column count from 1 (a tab
/// reaches to the next multiple of 8); line 0 stands for the file as a whole.
struct TextProblem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
  bool warning = false;
  /// The text was then read as the message suggests, so that what depends on it can be checked.
  bool guessed = false;

  /// `lenet.prototxt:12:5: unknown field "kernal_size" in ConvolutionParameter (did you mean ...)`.
  std::string ToString() const;
};

/// Reads `text` in protobuf's text format, as Caffe's prototxts are written, into `out`.
///
/// Unlike protobuf's own parser it goes on after a mistake, so that all mistakes of a file are
/// found in one go, in the order of the text; one mistake gives one problem. Fields of Caffe's
/// forks that moka need not know (fork_fields.hpp) are left out with one warning each. A byte
/// order mark, CRLF and bytes that are not UTF-8 are accepted.
///
/// Messages that have a SourcePlace field (source.hpp) are told where they and their fields stand;
/// `file` is the name to put there. Never throws for what stands in the text. After errors `out`
/// holds what could be understood.
std::vector<TextProblem> ParseText(const std::string& text, const std::string& file,
                                   const TextOptions& options, google::protobuf::Message* out);

/// How much of the text a message like `out` can take: fields that it has, less the mistakes. Tells
/// nets and solvers apart.
int TextFit(const std::string& text, const TextOptions& options, google::protobuf::Message* out);

/// `this is a solver's prototxt, not a net's` for a text that fits the other one of NetParameter
/// and SolverParameter better than `wanted`, empty for others.
std::string WrongTextKind(const std::string& text, const google::protobuf::Message& wanted);

/// Reads the file at `path` into `out` and logs the warnings. Throws one Error that lists the
/// errors, a line each, the first twenty if there are more, or says that a net was given for a
/// solver or the other way round; and when the file cannot be read.
void ReadText(const std::string& path, google::protobuf::Message* out,
              const TextOptions& options = {});

/// As ReadText, for a text that stands in memory and is called `file` in messages.
void ReadTextFrom(const std::string& text, const std::string& file, google::protobuf::Message* out,
                  const TextOptions& options = {});

/// The message in text format, without places, floats as short as they can be.
std::string ToText(const google::protobuf::Message& message);

}  // namespace moka
