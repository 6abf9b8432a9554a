#include "moka/proto/schema_doc.hpp"

#include <glog/logging.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"

// The FileDescriptorSet of moka.proto with source info, embedded by the build.
extern "C" const char moka_schema_begin[], moka_schema_end[];

namespace moka {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::SourceCodeInfo_Location;

/// The way to an element of a file: field numbers of descriptor.proto and indices in turn.
using Path = std::vector<int>;

Path Child(Path path, int field, int index) {
  path.push_back(field);
  path.push_back(index);
  return path;
}

bool IsChild(const Path& path, const Path& parent) {
  return path.size() == parent.size() + 2 && std::equal(parent.begin(), parent.end(), path.begin());
}

/// Joins the lines of paragraphs; indented lines stay as they are.
std::string Unwrap(const std::string& comment) {
  std::string text;
  bool after_indented = false;
  for (std::string line : Split(comment, '\n')) {
    if (Trim(line).empty()) continue;
    const bool indented = StartsWith(line, "   ");
    if (!text.empty()) text += indented || after_indented ? "\n" : " ";
    text += indented ? line.substr(1) : Trim(line);
    after_indented = indented;
  }
  return text;
}

/// The embedded file, with its messages and enumerations by full name.
class Schema {
 public:
  struct Message {
    const DescriptorProto* proto;
    Path path;
  };
  struct Enum {
    const EnumDescriptorProto* proto;
    Path path;
  };

  static const Schema& Get() {
    static const Schema schema;
    return schema;
  }

  const std::vector<std::string>& names() const { return names_; }

  const Message& FindMessage(const std::string& name) const {
    const auto found = messages_.find(name);
    Require(found != messages_.end(), "there is no message \"", name, "\"",
            DidYouMean(name, names_));
    return found->second;
  }

  const Enum& FindEnum(const std::string& name) const { return enums_.at(name); }

  std::string Comment(const Path& path) const {
    const auto found = locations_.find(path);
    return found == locations_.end() ? "" : Unwrap(found->second->leading_comments());
  }

  /// For each field of a message the heading that it stands under. `// --- Geometry` is set apart
  /// above the first field of a group, or above an enumeration in front of it.
  std::map<int, std::string> Headings(const Message& message) const {
    std::vector<std::pair<const SourceCodeInfo_Location*, int>> parts;
    for (const auto& [path, location] : locations_) {
      if (!IsChild(path, message.path)) continue;
      const bool is_field = path[path.size() - 2] == DescriptorProto::kFieldFieldNumber;
      parts.emplace_back(location, is_field ? path.back() : -1);
    }
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.first->span(0) < b.first->span(0); });
    std::map<int, std::string> headings;
    std::string heading;
    for (const auto& [location, field] : parts) {
      for (const std::string& comment : location->leading_detached_comments()) {
        const std::string text = Unwrap(comment);
        if (StartsWith(text, "--- ")) heading = text.substr(4);
      }
      if (field >= 0) headings[field] = heading;
    }
    return headings;
  }

 private:
  Schema() {
    FileDescriptorSet set;
    CHECK(set.ParseFromArray(moka_schema_begin,
                             static_cast<int>(moka_schema_end - moka_schema_begin)));
    for (FileDescriptorProto& file : *set.mutable_file()) {
      if (file.package() == "moka") file_.Swap(&file);
    }
    for (const auto& location : file_.source_code_info().location()) {
      locations_[Path(location.path().begin(), location.path().end())] = &location;
    }
    for (int i = 0; i < file_.message_type_size(); ++i) {
      AddMessage("", file_.message_type(i),
                 Child({}, FileDescriptorProto::kMessageTypeFieldNumber, i));
    }
    for (int i = 0; i < file_.enum_type_size(); ++i) {
      enums_[file_.enum_type(i).name()] = {&file_.enum_type(i),
                                           Child({}, FileDescriptorProto::kEnumTypeFieldNumber, i)};
    }
  }

  void AddMessage(const std::string& scope, const DescriptorProto& message, const Path& path) {
    const std::string name = scope + message.name();
    names_.push_back(name);
    messages_[name] = {&message, path};
    for (int i = 0; i < message.nested_type_size(); ++i) {
      AddMessage(name + ".", message.nested_type(i),
                 Child(path, DescriptorProto::kNestedTypeFieldNumber, i));
    }
    for (int i = 0; i < message.enum_type_size(); ++i) {
      enums_[name + "." + message.enum_type(i).name()] = {
          &message.enum_type(i), Child(path, DescriptorProto::kEnumTypeFieldNumber, i)};
    }
  }

  FileDescriptorProto file_;
  std::vector<std::string> names_;
  std::map<std::string, Message> messages_;
  std::map<std::string, Enum> enums_;
  std::map<Path, const SourceCodeInfo_Location*> locations_;
};

/// "uint32" for TYPE_UINT32, "label" for LABEL_...
std::string LowerTail(const std::string& name) {
  std::string tail = name.substr(name.find('_') + 1);
  for (char& c : tail) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return tail;
}

void AddValues(const std::string& enum_name, FieldDoc* field) {
  const Schema& schema = Schema::Get();
  const Schema::Enum& type = schema.FindEnum(enum_name);
  field->enum_comment = schema.Comment(type.path);
  for (int i = 0; i < type.proto->value_size(); ++i) {
    const auto& value = type.proto->value(i);
    const Path path = Child(type.path, EnumDescriptorProto::kValueFieldNumber, i);
    field->values.push_back({value.name(), value.number(), schema.Comment(path)});
  }
}

/// All but what is looked up in the schema.
FieldDoc PlainField(const FieldDescriptorProto& proto) {
  FieldDoc field;
  field.name = proto.name();
  field.number = proto.number();
  field.label = LowerTail(FieldDescriptorProto::Label_Name(proto.label()));
  field.type = LowerTail(FieldDescriptorProto::Type_Name(proto.type()));
  field.is_message = proto.type() == FieldDescriptorProto::TYPE_MESSAGE;
  field.fallback = proto.default_value();
  if (proto.has_default_value() && proto.type() == FieldDescriptorProto::TYPE_STRING) {
    field.fallback = "\"" + field.fallback + "\"";
  }
  return field;
}

FieldDoc DocumentField(const std::string& message, const FieldDescriptorProto& proto) {
  FieldDoc field = PlainField(proto);
  if (proto.has_type_name()) {
    const std::string type = proto.type_name().substr(std::string(".moka.").size());
    if (!field.is_message) AddValues(type, &field);
    field.type = StartsWith(type, message + ".") ? type.substr(message.size() + 1) : type;
  }
  return field;
}

/// "0.1", not "0.100000001".
std::string Shortest(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

}  // namespace

MessageDoc DocumentMessage(const std::string& message) {
  const Schema& schema = Schema::Get();
  const Schema::Message& found = schema.FindMessage(message);
  const auto headings = schema.Headings(found);
  MessageDoc doc;
  doc.name = message;
  doc.comment = schema.Comment(found.path);
  for (int i = 0; i < found.proto->field_size(); ++i) {
    FieldDoc field = DocumentField(message, found.proto->field(i));
    field.comment = schema.Comment(Child(found.path, DescriptorProto::kFieldFieldNumber, i));
    field.heading = headings.at(i);
    doc.fields.push_back(std::move(field));
  }
  return doc;
}

MessageDoc DocumentMessage(const google::protobuf::Descriptor& message) {
  MessageDoc doc;
  doc.name = message.name();
  for (int i = 0; i < message.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& descriptor = *message.field(i);
    FieldDescriptorProto proto;
    descriptor.CopyTo(&proto);
    FieldDoc field = PlainField(proto);
    if (proto.has_default_value() && proto.type() == FieldDescriptorProto::TYPE_FLOAT) {
      field.fallback = Shortest(descriptor.default_value_float());
    }
    if (field.is_message) field.type = descriptor.message_type()->name();
    if (descriptor.enum_type() != nullptr) {
      field.type = descriptor.enum_type()->name();
      for (int j = 0; j < descriptor.enum_type()->value_count(); ++j) {
        const auto* value = descriptor.enum_type()->value(j);
        field.values.push_back({value->name(), value->number(), ""});
      }
    }
    doc.fields.push_back(std::move(field));
  }
  return doc;
}

std::vector<std::string> DocumentedMessages() { return Schema::Get().names(); }

}  // namespace moka
