#include "moka/proto/text_tokens.hpp"

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

/// What the tokenizer complains about, found by a part of its words, in ours.
const char* InOurWords(const std::string& complaint) {
  static const struct {
    const char *theirs, *ours;
  } kWords[] = {
      {"cross line", "the closing quote of this string is missing"},
      {"end of string", "the closing quote of this string is missing"},
      {"Invalid escape", "unknown escape sequence in a string (a backslash is written \"\\\\\")"},
      {"hex digits for escape", "\"\\x\" in a string must be followed by hexadecimal digits"},
      {"hex digits for \\u", "\"\\u\" in a string must be followed by four hexadecimal digits"},
      {"up to 10ffff", "\"\\U\" in a string must be followed by eight hexadecimal digits"},
      {"number and identifier", "space missing between a number and a word"},
      {"identifier and decimal", "space missing between a word and a number"},
      {"Already saw", "this number has a second decimal point or exponent"},
      {"by exponent", "the \"e\" of a number must be followed by an exponent"},
      {"Hex and octal", "hexadecimal and octal numbers must be whole"},
      {"followed by hex", "\"0x\" must be followed by hexadecimal digits"},
      {"leading zero", "a number that starts with 0 is octal and has digits 0 to 7 only"},
      {"control characters", "a control character outside of strings and comments"},
  };
  for (const auto& words : kWords) {
    if (complaint.find(words.theirs) != std::string::npos) return words.ours;
  }
  return nullptr;
}

bool IsForeign(const std::string& complaint) {
  return complaint.find("non ascii") != std::string::npos;
}

bool IsOpenString(const std::string& complaint) {
  return complaint.find("cross line") != std::string::npos ||
         complaint.find("end of string") != std::string::npos;
}

}  // namespace

std::string Quoted(const std::string& text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return "\"" + text + "\"";
  return "\"" + text.substr(0, kLongest) + "...\"";
}

std::vector<TextProblem> TextProblems::Take() {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const TextProblem& a, const TextProblem& b) {
                     return std::make_pair(a.line, a.column) < std::make_pair(b.line, b.column);
                   });
  return std::move(problems_);
}

void TextProblems::Add(TextPosition at, const std::string& message, bool warning, bool guessed) {
  problems_.push_back({file_, at.line, at.column, message, warning, guessed});
}

std::string TextTokens::Token::Shown() const {
  // A string brings its own quotes.
  return IsEnd() ? "end of file" : IsString() ? text.substr(0, 60) : Quoted(text);
}

TextTokens::TextTokens(const std::string& text, TextProblems* problems)
    : input_(text.data(), static_cast<int>(text.size())),
      tokenizer_(&input_, this),
      problems_(problems) {
  tokenizer_.set_comment_style(google::protobuf::io::Tokenizer::SH_COMMENT_STYLE);
  tokenizer_.set_allow_f_after_float(true);
  Fetch();
  Next();
}

void TextTokens::Next() {
  std::swap(current_, ahead_);
  Fetch();
}

void TextTokens::Fetch() {
  complaints_.clear();
  tokenizer_.Next();
  const auto& token = tokenizer_.current();
  ahead_.type = token.type;
  ahead_.text = token.text;
  ahead_.at = {token.line + 1, token.column + 1};
  ahead_.bad = false;
  for (auto& [at, complaint] : complaints_) {
    ahead_.bad = ahead_.bad || complaint.find("control characters") == std::string::npos;
    // A string is wrong from where it starts, not where it could not go on.
    if (IsOpenString(complaint)) {
      at = ahead_.at;
      if (ahead_.text.find_first_of("}>") != std::string::npos) swallowing_line_ = at.line;
    }
    if (IsForeign(complaint)) {
      // One word in a foreign script, or typographic quotes, is many bytes and one mistake.
      if (foreign_line_ == at.line) continue;
      foreign_line_ = at.line;
      problems_->Error(at,
                       "a character outside of strings and comments that is not ASCII; quotes "
                       "must be plain \" or '");
      continue;
    }
    const char* ours = InOurWords(complaint);
    problems_->Error(at, ours ? ours : complaint);
  }
}

void TextTokens::AddError(int line, google::protobuf::io::ColumnNumber column,
                          const std::string& message) {
  if (complaints_.size() < 100) complaints_.push_back({{line + 1, column + 1}, message});
}

}  // namespace moka
