#include "moka/solver/checked_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "moka/base/atomic_file.hpp"

namespace moka {
namespace {

using Position = std::pair<int, int>;  // line and column

bool IsOpen(const TextProblem& problem) { return !problem.warning && !problem.guessed; }

Position PositionOf(const SourcePlace& place) { return {place.line(), place.column()}; }

/// The name before the value that begins at `end`: `bottom: "x"` gives bottom.
std::string FieldBefore(const std::string& text, size_t end) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) || c == ':'; };
  const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  while (end > 0 && is_space(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

template <typename Layers>
void AddPositions(const Layers& layers, std::vector<Position>* positions) {
  for (const auto& layer : layers) positions->push_back(PositionOf(layer.source()));
}

}  // namespace

CheckedText::CheckedText(const std::string& path, const TextOptions& options)
    : path_(path), options_(options), text_(ReadFile(path)) {}

void CheckedText::Parse(google::protobuf::Message* message) {
  problems_ = ParseText(text_, path_, options_, message);
}

bool CheckedText::understood() const {
  return std::none_of(problems_.begin(), problems_.end(), IsOpen);
}

NetDoubts CheckedText::Doubts(const NetParameter& net) const {
  std::vector<Position> layers;
  AddPositions(net.layer(), &layers);
  AddPositions(net.layers(), &layers);
  std::sort(layers.begin(), layers.end());
  std::set<Position> doubted;
  for (const TextProblem& problem : problems_) {
    if (!IsOpen(problem)) continue;
    const auto after =
        std::upper_bound(layers.begin(), layers.end(), Position(problem.line, problem.column));
    if (after != layers.begin()) doubted.insert(*(after - 1));
  }
  NetDoubts doubts;
  doubts.layer = [doubted](const LayerParameter& layer) {
    return doubted.count(PositionOf(layer.source())) > 0;
  };
  const bool any = !understood();
  doubts.any = any;
  doubts.blob = [this, any](const std::string& name) { return any && MayBeBlob(name); };
  return doubts;
}

/// Whether the name stands in quotes elsewhere than as a bottom: in what could not be understood,
/// as otherwise the net would have the blob.
bool CheckedText::MayBeBlob(const std::string& name) const {
  for (size_t at = text_.find(name); at != std::string::npos; at = text_.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at == 0 || end == text_.size() || text_[at - 1] != text_[end]) continue;
    if (text_[end] != '"' && text_[end] != '\'') continue;
    const std::string field = FieldBefore(text_, at - 1);
    if (field != "bottom" && field != "name") return true;
  }
  return false;
}

}  // namespace moka
