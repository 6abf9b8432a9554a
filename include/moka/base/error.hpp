#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace moka {

/// A mistake in what the user gave: a file, a net, a shape, a record.
///
/// The message reads `place: place: what\n  hint`. Code that knows more about the place than the
/// code that found the mistake catches the error, puts its place in front with `In`, and rethrows
/// the same object, whose class may say more:
///
///     try { layer->Reshape(...); } catch (Error& e) { e.In(LayerPlace(layer_param)); throw; }
class Error : public std::exception {
 public:
  explicit Error(std::string what) : message_(std::move(what)) {}

  /// Puts a place ("lenet.prototxt:41:3", "layer "ip1" (InnerProduct)") in front of the message.
  Error& In(const std::string& place) {
    message_ = place + ": " + message_;
    return *this;
  }

  /// Adds a line that says what to do.
  Error& Hint(const std::string& hint) {
    message_ += "\n  " + hint;
    return *this;
  }

  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// A file or database that is not there. `moka check` can do without data; everything else cannot.
class MissingFile : public Error {
 public:
  using Error::Error;
};

/// The streamed parts as one string: `Text("axis ", 4, " of a 3-axis blob")`.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

/// Throws an Error made of the streamed parts.
template <typename... Parts>
[[noreturn]] void Fail(const Parts&... parts) {
  throw Error(Text(parts...));
}

/// Throws an Error made of the streamed parts unless `condition` holds.
template <typename... Parts>
void Require(bool condition, const Parts&... parts) {
  if (!condition) Fail(parts...);
}

}  // namespace moka
