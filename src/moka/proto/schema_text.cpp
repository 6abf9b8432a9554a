#include <algorithm>
#include <sstream>

#include "moka/base/strings.hpp"
#include "moka/proto/schema_doc.hpp"

namespace moka {
namespace {

constexpr size_t kWidth = 100;

/// One paragraph, broken at white space; lines begin with `indent`, the first one with `first`.
void WrapParagraph(const std::string& paragraph, const std::string& first,
                   const std::string& indent, std::string* text) {
  std::istringstream words(paragraph);
  std::string line = first, word;
  bool empty = true;
  while (words >> word) {
    if (!empty && line.size() + 1 + word.size() > kWidth) {
      *text += line + "\n";
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  *text += line + "\n";
}

/// A comment: its paragraphs wrapped, its indented lines as they are.
void Wrap(const std::string& comment, const std::string& indent, std::string* text) {
  for (const std::string& line : Split(comment, '\n')) {
    if (StartsWith(line, " ")) {
      *text += indent + Trim(line) + "\n";
    } else {
      WrapParagraph(line, indent, indent, text);
    }
  }
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string TypeText(const FieldDoc& field) {
  return (field.label == "repeated" ? "repeated " : "") + field.type;
}

std::string DefaultText(const FieldDoc& field) {
  if (field.label == "required") return "(required)";
  return field.fallback.empty() ? "-" : field.fallback;
}

/// The values with their comments one below the other, or in one line if nothing is said of them.
void DescribeValues(const FieldDoc& field, std::string* text) {
  const std::string indent(6, ' ');
  size_t width = 0;
  bool commented = false;
  std::vector<std::string> names;
  for (const EnumValueDoc& value : field.values) {
    width = std::max(width, value.name.size());
    commented |= !value.comment.empty();
    names.push_back(value.name);
  }
  if (!commented) {
    const std::string remark = field.enum_comment.empty() ? "" : ". " + field.enum_comment;
    Wrap("One of " + Join(names, ", ") + remark, indent, text);
    return;
  }
  for (const EnumValueDoc& value : field.values) {
    const std::string first = indent + Padded(value.name, width) + "  ";
    WrapParagraph(value.comment, first, std::string(first.size(), ' '), text);
  }
}

/// What the reader sets for itself is not for people to write.
bool IsInternal(const FieldDoc& field) { return field.type == "SourcePlace"; }

}  // namespace

std::string DescribeMessage(const std::string& message) {
  return DescribeMessage(DocumentMessage(message));
}

std::string DescribeMessage(MessageDoc doc) {
  doc.fields.erase(std::remove_if(doc.fields.begin(), doc.fields.end(), IsInternal),
                   doc.fields.end());
  std::string text = doc.name + "\n";
  if (!doc.comment.empty()) Wrap(doc.comment, "  ", &text);

  size_t name_width = 0, type_width = 0;
  for (const FieldDoc& field : doc.fields) {
    name_width = std::max(name_width, field.name.size());
    type_width = std::max(type_width, TypeText(field).size());
  }
  text += "\n";
  std::string heading;
  std::vector<std::string> messages;
  for (const FieldDoc& field : doc.fields) {
    if (field.heading != heading) {
      heading = field.heading;
      if (&field != &doc.fields.front()) text += "\n";
      WrapParagraph(heading, "  --- ", "      ", &text);
      text += "\n";
    }
    text += "  " + Padded(field.name, name_width) + "  " + Padded(TypeText(field), type_width) +
            "  " + DefaultText(field) + "\n";
    if (!field.comment.empty()) Wrap(field.comment, "      ", &text);
    if (!field.values.empty()) DescribeValues(field, &text);
    if (field.is_message &&
        std::find(messages.begin(), messages.end(), field.type) == messages.end()) {
      messages.push_back(field.type);
    }
  }
  if (!messages.empty()) {
    text += "\n";
    WrapParagraph("Messages in it: " + Join(messages, ", "), "  ", "    ", &text);
  }
  return text;
}

}  // namespace moka
