#include "moka/proto/text_reader.hpp"

#include <glog/logging.h>

#include <climits>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/source.hpp"
#include "moka/proto/text_kind.hpp"
#include "moka/proto/text_parser.hpp"

namespace moka {
namespace {

std::string Listed(const std::vector<TextProblem>& errors) {
  constexpr size_t kMost = 20;
  std::vector<std::string> lines;
  for (const TextProblem& error : errors) {
    if (lines.size() < kMost) lines.push_back(error.ToString());
  }
  if (errors.size() > kMost) lines.push_back(Text("... and ", errors.size() - kMost, " more"));
  return Join(lines, "\n");
}

}  // namespace

std::string TextProblem::ToString() const {
  const std::string place = line > 0 ? Text(file, ":", line, ":", column) : file;
  return place + ": " + message;
}

std::vector<TextProblem> ParseText(const std::string& text, const std::string& file,
                                   const TextOptions& options, google::protobuf::Message* out) {
  out->Clear();
  TextProblems problems(file);
  const std::string not_prototxt =
      text.size() > INT_MAX ? "a text of more than 2 GB cannot be read" : WhyNotPrototxt(text);
  const int conflict = MergeConflictLine(text);
  if (!not_prototxt.empty()) {
    problems.Error({0, 0}, not_prototxt);
  } else if (conflict) {
    problems.Error({conflict, 1}, "git left a merge conflict here that must be resolved first");
  } else {
    // Tokenizers have no word for a byte order mark.
    const bool has_mark = StartsWith(text, "\xEF\xBB\xBF");
    TextParser(has_mark ? text.substr(3) : text, options, &problems).Parse(out);
  }
  return problems.Take();
}

void ReadTextFrom(const std::string& text, const std::string& file, google::protobuf::Message* out,
                  const TextOptions& options) {
  std::vector<TextProblem> errors;
  for (const TextProblem& problem : ParseText(text, file, options, out)) {
    if (problem.warning) {
      LOG(WARNING) << problem.ToString();
    } else {
      errors.push_back(problem);
    }
  }
  if (errors.empty()) return;
  const std::string other = WrongTextKind(text, *out);
  throw Error(other.empty() ? Listed(errors) : file + ": " + other);
}

int TextFit(const std::string& text, const TextOptions& options, google::protobuf::Message* out) {
  int fit = 0;
  for (const TextProblem& problem : ParseText(text, "", options, out)) {
    fit -= problem.warning ? 0 : 1;
  }
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  out->GetReflection()->ListFields(*out, &fields);
  for (const auto* field : fields) {
    if (field == SourceFieldOf(out->GetDescriptor())) continue;
    fit += field->is_repeated() ? out->GetReflection()->FieldSize(*out, field) : 1;
  }
  return fit;
}

std::string WrongTextKind(const std::string& text, const google::protobuf::Message& wanted) {
  const auto* type = wanted.GetDescriptor();
  if (type != NetParameter::descriptor() && type != SolverParameter::descriptor()) return "";
  NetParameter net;
  SolverParameter solver;
  const int net_fit = TextFit(text, {}, &net), solver_fit = TextFit(text, {}, &solver);
  // Mistakes inside its layers do not make a net a solver.
  const bool has_layers = net.layer_size() + net.layers_size() + net.input_size() > 0;
  const bool wants_net = type == NetParameter::descriptor();
  if (wants_net && !has_layers && solver_fit > net_fit) {
    return "this is a solver's prototxt, not a net's";
  }
  if (!wants_net && has_layers) return "this is a net's prototxt, not a solver's";
  return "";
}

void ReadText(const std::string& path, google::protobuf::Message* out, const TextOptions& options) {
  const std::string text = ReadFile(path);
  Require(!Trim(text).empty(), path, ": is empty");
  ReadTextFrom(text, path, out, options);
}

}  // namespace moka
