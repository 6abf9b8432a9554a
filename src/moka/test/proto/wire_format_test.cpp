#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/moka.pb.h"

// moka.proto against tables of the fields of Caffe and its two large forks: every
// field and enum value must be there as the table says. A number that a table of higher priority
// has taken is the one exception: the field then stands under a number of moka's own.

namespace moka {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptorProto;

constexpr int kFirstOwnNumber = 10000;
constexpr int kFirstOwnEnumValue = 100;

struct Row {
  std::string table, message, label, type, name, fallback;
  int number = 0;
  bool packed = false;

  bool IsEnumValue() const { return StartsWith(message, "enum "); }
  std::string EnumName() const { return message.substr(5); }
};

/// The lines of a table's file: message, number, label, type, name, default, flags.
void ReadTable(const std::string& table, std::vector<Row>* rows) {
  const std::string path = "src/moka/test/data/format/" + table + ".tsv";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << ": run the tests from the top folder";
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> columns = Split(line, '\t');
    columns.resize(7);
    Row row{table, columns[0], columns[2], columns[3], columns[4], columns[5]};
    row.number = std::atoi(columns[1].c_str());
    row.packed = columns[6] == "packed";
    rows->push_back(row);
  }
}

/// The rows of all tables, the table of highest priority first.
const std::vector<Row>& Tables() {
  static const std::vector<Row> tables = [] {
    std::vector<Row> rows;
    for (const char* table : {"bvlc", "ssd_extra", "nvidia_extra"}) ReadTable(table, &rows);
    return rows;
  }();
  return tables;
}

std::string WithoutPackage(const std::string& full_name) {
  return full_name.substr(std::string("moka.").size());
}

std::string TypeText(const FieldDescriptor& field) {
  if (const Descriptor* type = field.message_type()) {
    return "message " + WithoutPackage(type->full_name());
  }
  if (const EnumDescriptor* type = field.enum_type()) {
    return "enum " + WithoutPackage(type->full_name());
  }
  return field.type_name();
}

/// Whether the field has the table's default; an empty one means that none is declared.
bool HasDefault(const FieldDescriptor& field, const std::string& fallback) {
  if (fallback.empty()) return !field.has_default_value();
  if (!field.has_default_value()) return false;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return field.default_value_string() == fallback;
    case FieldDescriptor::CPPTYPE_ENUM:
      return field.default_value_enum()->name() == fallback;
    case FieldDescriptor::CPPTYPE_BOOL:
      return field.default_value_bool() == (fallback == "true");
    case FieldDescriptor::CPPTYPE_FLOAT:
      return field.default_value_float() == std::strtof(fallback.c_str(), nullptr);
    case FieldDescriptor::CPPTYPE_INT32:
      return field.default_value_int32() == std::stoll(fallback);
    case FieldDescriptor::CPPTYPE_INT64:
      return field.default_value_int64() == std::stoll(fallback);
    case FieldDescriptor::CPPTYPE_UINT32:
      return field.default_value_uint32() == std::stoll(fallback);
    default:
      return false;
  }
}

/// Compares a schema with the tables and lists what differs.
class Comparison {
 public:
  explicit Comparison(const DescriptorPool& pool) : pool_(pool) {
    for (const Row& row : Tables()) {
      if (row.IsEnumValue()) {
        CompareEnumValue(row);
      } else {
        CompareField(row);
      }
    }
  }

  const std::vector<std::string>& differences() const { return differences_; }

 private:
  void CompareEnumValue(const Row& row) {
    const EnumDescriptor* type = pool_.FindEnumTypeByName("moka." + row.EnumName());
    const auto* value = type ? type->FindValueByName(row.name) : nullptr;
    Expect(value && value->number() == row.number, row, "value");
  }

  void CompareField(const Row& row) {
    const Descriptor* type = pool_.FindMessageTypeByName("moka." + row.message);
    const FieldDescriptor* field = type ? type->FindFieldByName(row.name) : nullptr;
    if (!field) return Expect(false, row, "is missing");
    Expect(field->number() == Number(row), row, "number");
    static const char* const kLabels[] = {"", "optional", "required", "repeated"};
    Expect(row.label == kLabels[field->label()], row, "label");
    Expect(row.type == TypeText(*field), row, "type");
    Expect(HasDefault(*field, row.fallback), row, "default");
    Expect(row.packed == field->is_packed(), row, "packed");
  }

  /// The number that a row's field must have: the table's own if it is still free, else the one
  /// that the schema gave it among its own numbers.
  int Number(const Row& row) {
    auto& numbers = numbers_[row.message];
    const auto known = numbers.find(row.name);
    if (known != numbers.end()) return known->second;
    int number = row.number;
    if (!taken_.emplace(row.message, number).second) {
      const FieldDescriptor* field =
          pool_.FindMessageTypeByName("moka." + row.message)->FindFieldByName(row.name);
      number = std::max(field->number(), kFirstOwnNumber);
    }
    return numbers[row.name] = number;
  }

  void Expect(bool holds, const Row& row, const std::string& what) {
    if (!holds)
      differences_.push_back(Text(row.table, ": ", row.message, ".", row.name, ": ", what));
  }

  const DescriptorPool& pool_;
  std::map<std::string, std::map<std::string, int>> numbers_;
  std::set<std::pair<std::string, int>> taken_;
  std::vector<std::string> differences_;
};

std::vector<std::string> Differences(const FileDescriptorProto& schema) {
  DescriptorPool pool;
  if (!pool.BuildFile(schema)) return {"the schema does not build"};
  return Comparison(pool).differences();
}

FileDescriptorProto Schema() {
  FileDescriptorProto schema;
  NetParameter::descriptor()->file()->CopyTo(&schema);
  return schema;
}

template <typename Items>
auto* Find(Items* items, const std::string& name) {
  for (auto& item : *items) {
    if (item.name() == name) return &item;
  }
  throw Error("no " + name);
}

google::protobuf::FieldDescriptorProto* FindField(FileDescriptorProto* schema,
                                                  const std::string& message,
                                                  const std::string& field) {
  return Find(Find(schema->mutable_message_type(), message)->mutable_field(), field);
}

TEST(WireFormat, HasEveryFieldAndEnumValueOfTheTables) {
  ASSERT_GT(Tables().size(), 1000u);
  const auto differences = Comparison(*DescriptorPool::generated_pool()).differences();
  EXPECT_TRUE(differences.empty()) << Join(differences, "\n");
}

TEST(WireFormat, OwnFieldsAndValuesKeepToOwnNumbers) {
  std::set<std::pair<std::string, std::string>> rows;
  std::set<std::string> types;
  for (const Row& row : Tables()) {
    rows.emplace(row.message, row.name);
    types.insert(row.message);
  }
  for (const std::string& name : types) {
    if (StartsWith(name, "enum ")) {
      const auto* type =
          DescriptorPool::generated_pool()->FindEnumTypeByName("moka." + name.substr(5));
      ASSERT_TRUE(type) << name;
      for (int i = 0; i < type->value_count(); ++i) {
        if (rows.count({name, type->value(i)->name()})) continue;
        EXPECT_GE(type->value(i)->number(), kFirstOwnEnumValue) << type->value(i)->full_name();
      }
    } else {
      const auto* type = DescriptorPool::generated_pool()->FindMessageTypeByName("moka." + name);
      ASSERT_TRUE(type) << name;
      for (int i = 0; i < type->field_count(); ++i) {
        if (rows.count({name, type->field(i)->name()})) continue;
        EXPECT_GE(type->field(i)->number(), kFirstOwnNumber) << type->field(i)->full_name();
      }
    }
  }
}

TEST(WireFormat, AClashingForkFieldIsReadByName) {
  EXPECT_EQ(42, SolverParameter::kWeightsFieldNumber);
  EXPECT_GE(SolverParameter::kRampupLrFieldNumber, kFirstOwnNumber);
  EXPECT_EQ(8, TransformationParameter::kResizeParamFieldNumber);
  EXPECT_GE(TransformationParameter::kUseGpuTransformFieldNumber, kFirstOwnNumber);
}

// The comparison itself: each kind of damage to the schema is found, and nothing else is.
TEST(WireFormat, TheComparisonFindsDamage) {
  using Damage = void (*)(FileDescriptorProto*);
  const std::pair<Damage, std::string> cases[] = {
      {[](FileDescriptorProto*) {}, ""},
      {[](auto* s) { FindField(s, "LRNParameter", "beta")->set_number(99); },
       "bvlc: LRNParameter.beta: number"},
      {[](auto* s) { FindField(s, "LRNParameter", "beta")->set_default_value("0.5"); },
       "bvlc: LRNParameter.beta: default"},
      {[](auto* s) { FindField(s, "LRNParameter", "beta")->clear_default_value(); },
       "bvlc: LRNParameter.beta: default"},
      {[](auto* s) { FindField(s, "Datum", "data")->set_default_value("x"); },
       "bvlc: Datum.data: default"},
      {[](auto* s) {
         FindField(s, "PoolingParameter", "pad")
             ->set_type(google::protobuf::FieldDescriptorProto::TYPE_UINT64);
       },
       "bvlc: PoolingParameter.pad: type"},
      {[](auto* s) {
         FindField(s, "ClipParameter", "min")
             ->set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
       },
       "bvlc: ClipParameter.min: label"},
      {[](auto* s) { FindField(s, "BlobProto", "data")->mutable_options()->set_packed(false); },
       "bvlc: BlobProto.data: packed"},
      {[](auto* s) { FindField(s, "SolverParameter", "rampup_lr")->set_number(300); },
       "nvidia_extra: SolverParameter.rampup_lr: number"},
      {[](auto* s) { FindField(s, "PermuteParameter", "order")->set_name("ordre"); },
       "ssd_extra: PermuteParameter.order: is missing"},
      {[](auto* s) {
         Find(Find(s->mutable_enum_type(), "Phase")->mutable_value(), "TEST")->set_number(7);
       },
       "bvlc: enum Phase.TEST: value"},
  };
  for (const auto& [damage, expected] : cases) {
    FileDescriptorProto schema = Schema();
    damage(&schema);
    const auto found = Differences(schema);
    // A field of both forks is missed in both tables.
    ASSERT_EQ(expected.empty(), found.empty()) << expected;
    if (!expected.empty()) {
      EXPECT_EQ(expected, found[0]);
    }
    EXPECT_LE(found.size(), 2u);
  }
}

}  // namespace
}  // namespace moka
