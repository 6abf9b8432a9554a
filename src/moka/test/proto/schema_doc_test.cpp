#include "moka/proto/schema_doc.hpp"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {
namespace {

const FieldDoc& FieldOf(const MessageDoc& doc, const std::string& name) {
  const auto found = std::find_if(doc.fields.begin(), doc.fields.end(),
                                  [&](const FieldDoc& field) { return field.name == name; });
  if (found == doc.fields.end()) throw Error("no field " + name);
  return *found;
}

TEST(SchemaDoc, GivesTypeDefaultCommentAndValuesOfAField) {
  const MessageDoc doc = DocumentMessage("PoolingParameter");
  EXPECT_TRUE(StartsWith(doc.comment, "Pooling: ")) << doc.comment;
  const FieldDoc& pool = FieldOf(doc, "pool");
  EXPECT_EQ("optional", pool.label);
  EXPECT_EQ("PoolMethod", pool.type);
  EXPECT_EQ("MAX", pool.fallback);
  EXPECT_FALSE(pool.comment.empty());
  ASSERT_GE(pool.values.size(), 3u);
  EXPECT_EQ("AVE", pool.values[1].name);
  EXPECT_TRUE(StartsWith(pool.values[1].comment, "The mean.")) << pool.values[1].comment;
}

TEST(SchemaDoc, GivesLabelsMessagesAndQuotedStrings) {
  EXPECT_EQ("required", FieldOf(DocumentMessage("ClipParameter"), "min").label);
  const FieldDoc param = FieldOf(DocumentMessage("LayerParameter"), "param");
  EXPECT_EQ("repeated", param.label);
  EXPECT_EQ("ParamSpec", param.type);
  EXPECT_TRUE(param.is_message);
  EXPECT_EQ("\"constant\"", FieldOf(DocumentMessage("FillerParameter"), "type").fallback);
  EXPECT_EQ("", FieldOf(DocumentMessage("ConvolutionParameter"), "num_output").fallback);
}

TEST(SchemaDoc, HeadingsHoldUntilTheNextOne) {
  const MessageDoc doc = DocumentMessage("SolverParameter");
  EXPECT_EQ("How long", FieldOf(doc, "max_iter").heading);
  EXPECT_EQ("How long", FieldOf(doc, "iter_size").heading);
  EXPECT_EQ("Learning rate", FieldOf(doc, "base_lr").heading);
  // An enumeration stands between the heading and its first field.
  EXPECT_EQ("Where and with which random numbers", FieldOf(doc, "solver_mode").heading);
}

TEST(SchemaDoc, IndentedLinesOfACommentStandByThemselves) {
  const std::string comment = FieldOf(DocumentMessage("SolverParameter"), "lr_policy").comment;
  EXPECT_NE(std::string::npos, comment.find("\n    \"step\": base_lr * gamma")) << comment;
}

TEST(SchemaDoc, AnUnknownMessageIsAnErrorWithTheNearestName) {
  try {
    DocumentMessage("PolingParameter");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ("there is no message \"PolingParameter\" (did you mean \"PoolingParameter\"?)",
                 e.what());
  }
}

TEST(SchemaDoc, TheTextAlignsFieldsAndStaysWithinItsWidth) {
  const std::string text = DescribeMessage("DropoutParameter");
  EXPECT_NE(std::string::npos,
            text.find("\n  dropout_ratio        float   0.5\n      The probability"))
      << text;
  for (const std::string& message : DocumentedMessages()) {
    for (const std::string& line : Split(DescribeMessage(message), '\n')) {
      EXPECT_LE(line.size(), 100u) << line;
    }
  }
}

TEST(SchemaDoc, TheTextNamesTheMessagesAndHidesWhatTheReaderSets) {
  const std::string text = DescribeMessage("NetParameter");
  EXPECT_NE(std::string::npos, text.find("Messages in it: LayerParameter, NetState"));
  EXPECT_EQ(std::string::npos, text.find("SourcePlace"));
}

// The comments are the manual: every message has one, and so has every field that a person writes.
TEST(SchemaDoc, EveryFieldThatAPersonWritesHasAComment) {
  for (const std::string& name : DocumentedMessages()) {
    const MessageDoc doc = DocumentMessage(name);
    EXPECT_FALSE(doc.comment.empty()) << name;
    const bool legacy = StartsWith(name, "V1") || StartsWith(name, "V0");
    if (legacy || StartsWith(name, "C2") || StartsWith(name, "DetectNet")) continue;
    for (const FieldDoc& field : doc.fields) {
      EXPECT_FALSE(field.comment.empty()) << name << "." << field.name;
    }
  }
}

TEST(SchemaDoc, TheEmbeddedSchemaIsTheCompiledOne) {
  const auto* file = NetParameter::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    const auto* type = file->message_type(i);
    const MessageDoc doc = DocumentMessage(type->name());
    ASSERT_EQ(type->field_count(), static_cast<int>(doc.fields.size())) << type->name();
    for (int k = 0; k < type->field_count(); ++k) {
      EXPECT_EQ(type->field(k)->name(), doc.fields[k].name);
      EXPECT_EQ(type->field(k)->number(), doc.fields[k].number);
    }
  }
}

}  // namespace
}  // namespace moka
