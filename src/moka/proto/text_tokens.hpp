#pragma once

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <string>
#include <vector>

#include "moka/proto/text_reader.hpp"

namespace moka {

/// A place in a text; line and column count from 1.
struct TextPosition {
  int line = 0;
  int column = 0;
};

/// The problems of one text, in the order of the text once taken.
class TextProblems {
 public:
  explicit TextProblems(std::string file) : file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  void Error(TextPosition at, const std::string& message) { Add(at, message, false, false); }
  void Warn(TextPosition at, const std::string& message) { Add(at, message, true, false); }
  /// An error after which the text is read as it was probably meant.
  void Guess(TextPosition at, const std::string& message) { Add(at, message, false, true); }

  /// Nobody reads further than this; suggestions cost time.
  bool Full() const { return problems_.size() >= kMost; }

  std::vector<TextProblem> Take();

 private:
  static constexpr size_t kMost = 1000;

  void Add(TextPosition at, const std::string& message, bool warning, bool guessed);

  std::string file_;
  std::vector<TextProblem> problems_;
};

/// The tokens of a text with one to look ahead; what is not a token goes to the problems.
class TextTokens : private google::protobuf::io::ErrorCollector {
 public:
  using Type = google::protobuf::io::Tokenizer::TokenType;

  struct Token {
    Type type = google::protobuf::io::Tokenizer::TYPE_END;
    std::string text;
    TextPosition at;
    /// Its letters are wrong, which was said already.
    bool bad = false;

    bool IsEnd() const { return type == google::protobuf::io::Tokenizer::TYPE_END; }
    bool Is(char symbol) const {
      return type == google::protobuf::io::Tokenizer::TYPE_SYMBOL && text[0] == symbol;
    }
    bool IsName() const { return type == google::protobuf::io::Tokenizer::TYPE_IDENTIFIER; }
    bool IsString() const { return type == google::protobuf::io::Tokenizer::TYPE_STRING; }
    bool IsInteger() const { return type == google::protobuf::io::Tokenizer::TYPE_INTEGER; }
    bool IsFloat() const { return type == google::protobuf::io::Tokenizer::TYPE_FLOAT; }
    bool Opens() const { return Is('{') || Is('<') || Is('['); }
    bool Closes() const { return Is('}') || Is('>') || Is(']'); }

    /// For messages: `"ten"`, `end of file`.
    std::string Shown() const;
  };

  TextTokens(const std::string& text, TextProblems* problems);

  const Token& Current() const { return current_; }
  const Token& Ahead() const { return ahead_; }
  void Next();

  /// Whether `token` names a field: its value or message follows.
  static bool Names(const Token& token, const Token& following) {
    return token.IsName() && (following.Is(':') || following.Is('{') || following.Is('<'));
  }

  /// The last line on which a string without closing quote swallowed a closing brace, or 0.
  int SwallowingLine() const { return swallowing_line_; }

 private:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override;
  void Fetch();

  google::protobuf::io::ArrayInputStream input_;
  google::protobuf::io::Tokenizer tokenizer_;
  TextProblems* problems_;
  std::vector<std::pair<TextPosition, std::string>> complaints_;
  int foreign_line_ = 0;
  int swallowing_line_ = 0;
  Token current_, ahead_;
};

/// `text` in quotes, cut when it is long.
std::string Quoted(const std::string& text);

}  // namespace moka
