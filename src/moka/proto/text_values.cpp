#include "moka/proto/text_values.hpp"

#include <cctype>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "moka/base/error.hpp"
#include "moka/proto/text_kind.hpp"
#include "moka/proto/text_names.hpp"

namespace moka {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::io::Tokenizer;

/// Sets the field, or adds to it if it is repeated: Put(..., &Reflection::SetInt32, &AddInt32, v).
template <typename Setter, typename Adder, typename Value>
bool Put(Message* message, const FieldDescriptor* field, Setter set, Adder add,
         const Value& value) {
  const Reflection* reflection = message->GetReflection();
  if (field->is_repeated()) {
    (reflection->*add)(message, field, value);
  } else {
    (reflection->*set)(message, field, value);
  }
  return true;
}

/// Hexadecimal (0x1f) or octal (017): whole numbers only.
bool IsDecimal(const std::string& digits) { return digits.size() == 1 || digits[0] != '0'; }

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

bool TextValues::Read(Message* message, const FieldDescriptor* field) {
  using R = Reflection;
  int64_t whole = 0;
  double real = 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return ReadInteger(field, INT32_MIN, INT32_MAX, &whole) &&
             Put(message, field, &R::SetInt32, &R::AddInt32, static_cast<int32_t>(whole));
    case FieldDescriptor::CPPTYPE_UINT32:
      return ReadInteger(field, 0, UINT32_MAX, &whole) &&
             Put(message, field, &R::SetUInt32, &R::AddUInt32, static_cast<uint32_t>(whole));
    case FieldDescriptor::CPPTYPE_INT64:
      return ReadInteger(field, INT64_MIN, INT64_MAX, &whole) &&
             Put(message, field, &R::SetInt64, &R::AddInt64, whole);
    case FieldDescriptor::CPPTYPE_UINT64:
      return ReadInteger(field, 0, UINT64_MAX, &whole) &&
             Put(message, field, &R::SetUInt64, &R::AddUInt64, static_cast<uint64_t>(whole));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return ReadReal(field, &real) &&
             Put(message, field, &R::SetFloat, &R::AddFloat, static_cast<float>(real));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return ReadReal(field, &real) && Put(message, field, &R::SetDouble, &R::AddDouble, real);
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool truth = false;
      return ReadBool(field, &truth) && Put(message, field, &R::SetBool, &R::AddBool, truth);
    }
    case FieldDescriptor::CPPTYPE_ENUM:
      return ReadEnum(message, field);
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string text;
      return ReadString(field, &text) && Put(message, field, &R::SetString, &R::AddString, text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return false;
}

bool TextValues::Minus() {
  if (!tokens_.Current().Is('-')) return false;
  tokens_.Next();
  return true;
}

bool TextValues::Complain(const std::string& what) {
  const Token& token = tokens_.Current();
  if (!token.bad) problems_.Error(token.at, what);
  return false;
}

bool TextValues::Wrong(const FieldDescriptor* field, const std::string& wanted) {
  return Complain(field->name() + " takes " + wanted + ", not " + tokens_.Current().Shown() +
                  (tokens_.Current().Is('+') ? "; leave it out" : ""));
}

/// A number in quotes: says so and takes it.
bool TextValues::ReadQuoted(const FieldDescriptor* field, const std::string& wanted, double least,
                            double most, double* value) {
  const Token& token = tokens_.Current();
  if (!token.IsString() || token.bad || token.text.size() < 3) return false;
  const std::string number = token.text.substr(1, token.text.size() - 2);
  char* end = nullptr;
  const double read = std::strtod(number.c_str(), &end);
  const bool whole_wanted = field->cpp_type() != FieldDescriptor::CPPTYPE_FLOAT &&
                            field->cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE;
  if (*end != '\0' || !(read >= least && read < most)) return false;
  if (whole_wanted && (read != std::floor(read) || std::fabs(read) > 1e15)) return false;
  problems_.Guess(token.at, field->name() + " takes " + wanted + ", not " + token.Shown() +
                                "; leave out the quotes");
  *value = read;
  tokens_.Next();
  return true;
}

bool TextValues::ReadInteger(const FieldDescriptor* field, int64_t least, uint64_t most,
                             int64_t* value) {
  const std::string wanted = least < 0 ? "a whole number" : "a whole number of at least 0";
  if (least == 0 && tokens_.Current().Is('-')) return Wrong(field, wanted);
  const TextPosition at = tokens_.Current().at;
  const bool negative = Minus();
  const Token& token = tokens_.Current();
  double quoted = 0;
  if (!negative && ReadQuoted(field, wanted, least, static_cast<double>(most), &quoted)) {
    *value = static_cast<int64_t>(quoted);
    return true;
  }
  if (!token.IsInteger() || token.bad) return Wrong(field, wanted);
  // Two's complement reaches one further down than up.
  uint64_t magnitude = 0;
  if (!Tokenizer::ParseInteger(token.text, negative ? most + 1 : most, &magnitude)) {
    problems_.Error(at, Text(negative ? "-" : "", token.text.substr(0, 60), " is out of range: ",
                             field->name(), " takes whole numbers from ", least, " to ", most));
    return false;
  }
  *value = static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
  tokens_.Next();
  return true;
}

bool TextValues::ReadReal(const FieldDescriptor* field, double* value) {
  const bool negative = Minus();
  const Token& token = tokens_.Current();
  const std::string word = token.IsName() ? Lower(token.text) : "";
  if (token.bad) return false;
  if (token.IsFloat() || (token.IsInteger() && IsDecimal(token.text))) {
    *value = Tokenizer::ParseFloat(token.text);
  } else if (word == "inf" || word == "infinity") {
    *value = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    *value = std::numeric_limits<double>::quiet_NaN();
  } else if (!negative && ReadQuoted(field, "a number", -DBL_MAX, DBL_MAX, value)) {
    return true;
  } else {
    return Wrong(field, token.IsInteger() ? "a decimal number" : "a number");
  }
  if (std::isfinite(*value) && std::isinf(static_cast<float>(*value)) &&
      field->cpp_type() == FieldDescriptor::CPPTYPE_FLOAT) {
    problems_.Warn(token.at, Quoted(token.text) + " is more than a float can hold: infinity");
  }
  if (negative) *value = -*value;
  tokens_.Next();
  return true;
}

bool TextValues::ReadBool(const FieldDescriptor* field, bool* value) {
  const Token& token = tokens_.Current();
  uint64_t digit = 0;
  if (token.IsInteger() && !token.bad && Tokenizer::ParseInteger(token.text, 1, &digit)) {
    *value = digit == 1;
  } else if (token.IsName() &&
             (token.text == "true" || token.text == "True" || token.text == "t")) {
    *value = true;
  } else if (token.IsName() &&
             (token.text == "false" || token.text == "False" || token.text == "f")) {
    *value = false;
  } else {
    return Wrong(field, "true or false");
  }
  tokens_.Next();
  return true;
}

bool TextValues::ReadString(const FieldDescriptor* field, std::string* value) {
  const Token& first = tokens_.Current();
  const TextPosition at = first.at;
  if (first.IsName() || first.IsInteger()) {
    const std::string what =
        field->name() + " takes a string: " + first.text.substr(0, 60) + " must be in quotes";
    const bool is_all = tokens_.Ahead().at.line != at.line || tokens_.Ahead().Closes();
    if (first.bad || !is_all) return Complain(what);
    problems_.Guess(at, what);
    *value = first.text;
    tokens_.Next();
    return true;
  }
  if (!first.IsString()) return Wrong(field, "a string in quotes");
  for (; tokens_.Current().IsString(); tokens_.Next()) {
    if (tokens_.Current().bad) return false;
    Tokenizer::ParseStringAppend(tokens_.Current().text, value);
  }
  if (field->type() == FieldDescriptor::TYPE_STRING && !IsUtf8(*value)) {
    problems_.Warn(at, field->name() + " has bytes that are not UTF-8");
  }
  return true;
}

bool TextValues::ReadEnum(Message* message, const FieldDescriptor* field) {
  const Token first = tokens_.Current();
  const EnumValueDescriptor* found = nullptr;
  std::string shown = first.text;
  if (first.IsName()) {
    found = field->enum_type()->FindValueByName(first.text);
    tokens_.Next();
  } else if (first.IsInteger() || first.Is('-')) {
    int64_t number = 0;
    if (!ReadInteger(field, INT32_MIN, INT32_MAX, &number)) return false;
    found = field->enum_type()->FindValueByNumber(static_cast<int>(number));
    shown = std::to_string(number);
  } else {
    return Wrong(field, "a name without quotes");
  }
  if (found) return Put(message, field, &Reflection::SetEnum, &Reflection::AddEnum, found);
  const std::string what = UnknownValue(shown, field);
  if (options_.lenient) {
    problems_.Warn(first.at, what + " (ignored)");
  } else if (const EnumValueDescriptor* meant = MeantValue(shown, field)) {
    problems_.Guess(first.at, what);
    return Put(message, field, &Reflection::SetEnum, &Reflection::AddEnum, meant);
  } else {
    problems_.Error(first.at, what);
  }
  return true;  // the tokens were understood
}

}  // namespace moka
