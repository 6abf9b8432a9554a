#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace moka {

/// Documentation of a value of an enumeration.
struct EnumValueDoc {
  std::string name;
  int number = 0;
  std::string comment;
};

/// Documentation of a field of a message of moka.proto.
struct FieldDoc {
  std::string name;
  int number = 0;
  /// "optional", "required" or "repeated".
  std::string label;
  /// "uint32", or the name of a message or enumeration: "FillerParameter", "PoolMethod".
  std::string type;
  /// Whether the type is a message.
  bool is_message = false;
  /// As in the schema: "0.5", "MAX"; a string stands in quotes. Empty if there is none.
  std::string fallback;
  std::string comment;
  /// The heading that the field and those after it stand under; empty if there is none.
  std::string heading;
  /// For an enumeration: what is said of it as a whole, and its values.
  std::string enum_comment;
  std::vector<EnumValueDoc> values;
};

/// Documentation of a message of moka.proto, its fields in the order of the file.
struct MessageDoc {
  std::string name;
  std::string comment;
  std::vector<FieldDoc> fields;
};

/// What moka.proto says about a message, from the descriptors and comments that are built into the
/// library. Comments are whole paragraphs; lines of a comment that are indented stand by themselves
/// and keep their indentation. Throws Error, with the nearest name, if there is no such message.
MessageDoc DocumentMessage(const std::string& message);

/// The same of any other message, without comments: programs do not hold those.
MessageDoc DocumentMessage(const google::protobuf::Descriptor& message);

/// The messages of moka.proto in the order of the file.
std::vector<std::string> DocumentedMessages();

/// The same as a text for people, at most 100 columns wide: the comment, then each field with type,
/// default and comment, the values of enumerations, and last the names of the messages in it.
std::string DescribeMessage(const std::string& message);
std::string DescribeMessage(MessageDoc doc);

}  // namespace moka
