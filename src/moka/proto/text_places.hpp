#pragma once

#include <string>

#include "moka/proto/source.hpp"
#include "moka/proto/text_tokens.hpp"

namespace moka {

/// Writes down, in the SourcePlace fields of the messages being read, where everything stands.
class TextPlaces {
 public:
  explicit TextPlaces(std::string file) : file_(std::move(file)) {}

  /// The field (its item `index` if it is repeated) of the message being read stands at `at`.
  void Add(const std::string& field, int index, TextPosition at);

  /// While it lives, `message` is being read; it is item `index` of `field` of the one before it
  /// (no name: the file).
  class Inside {
   public:
    Inside(TextPlaces* places, google::protobuf::Message* message, const std::string& field,
           int index, TextPosition at);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    TextPlaces* places_;
    SourcePlace* outer_;
    std::string outer_path_;
  };

 private:
  std::string PathOf(const std::string& field, int index) const;

  std::string file_;
  SourcePlace* place_ = nullptr;  ///< Of the nearest message around that has one.
  std::string path_;              ///< From that message down, with a dot at its end.
};

}  // namespace moka
