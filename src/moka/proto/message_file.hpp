#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "moka/proto/file_kind.hpp"

namespace moka {

/// Reads a binary message from a file that ScanWire found sound. Throws when it is larger than
/// protobuf can read, cut short, or damaged inside; `what` is its name in messages ("model").
void ReadMessage(const std::string& path, const std::string& what,
                 google::protobuf::Message* message);

/// Writes `head` and then a binary message, whole or not at all.
void WriteMessage(const std::string& path, const google::protobuf::Message& message,
                  const std::string& head = "");

/// Throws an Error that tells what the file is in place of `wanted` ("a model"), and what to do.
[[noreturn]] void FailAtKind(const std::string& path, FileKind kind, const std::string& wanted);

}  // namespace moka
