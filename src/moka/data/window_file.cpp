#include "moka/data/window_file.hpp"

#include <charconv>
#include <string_view>

#include "moka/base/atomic_file.hpp"
#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

namespace moka {
namespace {

/// Words of a text, with the line that each stands in.
class Words {
 public:
  explicit Words(const std::string& path) : path_(path), text_(ReadFile(path)) {}

  /// False at the end of the text.
  bool More() {
    constexpr std::string_view kBlanks = " \t\r\n";
    for (; at_ < text_.size() && kBlanks.find(text_[at_]) != kBlanks.npos; ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
    return at_ < text_.size();
  }

  /// The next word; `what` says what it should be.
  std::string Word(const char* what) { return Take(what, " \t\r\n"); }

  /// The next word and all behind it in its line.
  std::string Line(const char* what) { return Trim(Take(what, "\n")); }

  template <typename Number>
  Number Take(const char* what) {
    const std::string word = Word(what);
    Number number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failure != std::errc() || end != word.data() + word.size()) {
      Fail(Place(), what, " should stand here, not \"", word, "\"");
    }
    return number;
  }

  int64_t line() const { return line_; }
  std::string Place() const { return Text(path_, ":", line_, ": "); }

 private:
  std::string Take(const char* what, const char* ends) {
    const bool more = More();
    Require(more, Place(), "the file ends where ", what, " should stand");
    const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  std::string path_, text_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

Window ReadWindow(Words* words, int64_t image) {
  Window window;
  window.image = image;
  window.label = words->Take<int>("the class of a window");
  window.line = words->line();
  window.overlap = words->Take<float>("the overlap of a window");
  window.left = words->Take<int64_t>("the left edge of a window");
  window.top = words->Take<int64_t>("the top edge of a window");
  window.right = words->Take<int64_t>("the right edge of a window");
  window.bottom = words->Take<int64_t>("the bottom edge of a window");
  Require(window.left <= window.right && window.top <= window.bottom, words->Place(),
          "the window's left and top edges, ", window.left, " and ", window.top,
          ", lie past its right and bottom ones, ", window.right, " and ", window.bottom);
  return window;
}

}  // namespace

WindowFile ReadWindowFile(const std::string& path) {
  Words words(path);
  WindowFile file;
  while (words.More()) {
    const std::string mark = words.Word("\"#\"");
    Require(mark == "#", words.Place(),
            "\"#\" and the number of a picture should stand here, not \"", mark, "\"");
    words.Take<int64_t>("the number of a picture");
    file.images.push_back(words.Line("the path of a picture"));
    for (const char* what : {"the channels", "the height", "the width"}) words.Take<int64_t>(what);
    const int64_t windows = words.Take<int64_t>("the number of windows");
    for (int64_t i = 0; i < windows; ++i) {
      file.windows.push_back(ReadWindow(&words, static_cast<int64_t>(file.images.size()) - 1));
    }
  }
  Require(!file.images.empty(), path, ": has no pictures");
  return file;
}

}  // namespace moka
