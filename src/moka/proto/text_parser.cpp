#include "moka/proto/text_parser.hpp"

#include <algorithm>
#include <memory>

#include "moka/base/strings.hpp"
#include "moka/proto/plugin_param.hpp"
#include "moka/proto/text_names.hpp"

namespace moka {
namespace {

/// Deeper than any message of Caffe; protobuf's binary reader stops there as well.
constexpr size_t kMostDepth = 100;

char CloserOf(const std::string& opener) { return opener == "{" ? '}' : opener == "<" ? '>' : ']'; }

}  // namespace

const TextPosition* TextParser::Frame::Given(const FieldDescriptor* field) const {
  for (const auto& [other, at] : given) {
    if (other == field) return &at;
  }
  return nullptr;
}

void TextParser::Complain(const Token& token, const std::string& what) {
  if (!token.bad) problems_.Error(token.at, what);
}

std::string TextParser::At(TextPosition place) const {
  return Text(problems_.file(), ":", place.line, ":", place.column);
}

void TextParser::Parse(Message* out) {
  Frame file{out, out->GetDescriptor(), {1, 1}, 0, {}};
  TextPlaces::Inside inside(&places_, out, "", 0, file.start);
  frames_ = {&file};
  ReadFields(&file);
  CheckRequired(file);
}

void TextParser::ReadFields(Frame* frame) {
  while (!problems_.Full() && !EndsFrame(frame)) {
    ReadField(frame);
    if (back_to_ == frame) back_to_ = nullptr;
    if (back_to_) return;
  }
}

bool TextParser::EndsFrame(Frame* frame) {
  const Token& token = Current();
  if (token.IsEnd()) {
    if (frame->closer) SayUnclosed(frame->type->name(), frame->start);
    return true;
  }
  if (!frame->closer || (!token.Is('}') && !token.Is('>'))) return false;
  if (!token.Is(frame->closer)) {
    Complain(token, Text("the ", frame->type->name(), " of ", At(frame->start),
                         " must be closed by \"", frame->closer, "\", not ", token.Shown()));
  }
  tokens_.Next();
  return true;
}

void TextParser::ReadField(Frame* frame) {
  const Token name = Current();
  if (!name.IsName()) {
    Complain(name, name.Is('[')    ? "extensions are not known here"
                   : name.Closes() ? name.Shown() + " closes nothing"
                                   : "expected the name of a field of " + frame->type->name() +
                                         ", not " + name.Shown());
    if (name.Is('[')) {
      SkipBrackets();
      SkipValue();
    } else {
      tokens_.Next();
      SkipLine(name.at.line);
    }
  } else if (const FieldDescriptor* field = FindTextField(frame->type, name.text)) {
    ReadKnown(frame, field, name);
  } else if (const Message* prototype = FindPluginField(frame->type, name.text)) {
    ReadPluginParam(frame, *prototype, name);
  } else {
    if (LeaveUnclosed(name)) return;
    ReadUnknown(name);
  }
  if (!back_to_ && (Current().Is(';') || Current().Is(','))) tokens_.Next();
}

void TextParser::ReadKnown(Frame* frame, const FieldDescriptor* field, const Token& name) {
  tokens_.Next();
  if (!field->is_repeated()) {
    if (const TextPosition* first = frame->Given(field)) {
      Complain(name, Text(Quoted(name.text), " is given twice in this ", frame->type->name(),
                          ", first at ", At(*first)));
      return SkipValue();
    }
    frame->given.emplace_back(field, name.at);
  }
  ReadValues(frame, field, name);
  forks_.SeeKnown(*frame->message, field, name.at);
}

/// A block that a plug-in registered becomes an entry of plugin_param.
void TextParser::ReadPluginParam(Frame* frame, const Message& prototype, const Token& name) {
  auto* params = static_cast<LayerParameter*>(frame->message)->mutable_plugin_param();
  const auto same = [&](const PluginParameter& other) { return other.field() == name.text; };
  tokens_.Next();
  if (std::any_of(params->begin(), params->end(), same)) {
    Complain(name, Quoted(name.text) + " is given twice in this " + frame->type->name());
    return SkipValue();
  }
  if (Current().Is(':')) tokens_.Next();
  if (!Current().Is('{') && !Current().Is('<')) {
    Complain(name, "\"{\" missing after " + Quoted(name.text));
    return SkipLine(name.at.line);
  }
  const std::unique_ptr<Message> message(prototype.New());
  ReadInto(message.get(), name.text, 0, name.at);
  PluginParameter* param = params->Add();
  param->set_field(name.text);
  param->set_type(prototype.GetTypeName());
  param->set_value(message->SerializePartialAsString());
}

void TextParser::ReadUnknown(const Token& name) {
  if (!forks_.SeeUnknown(frames_.back()->type, name.text, name.at)) {
    std::vector<const Descriptor*> around;
    for (auto it = frames_.rbegin(); it != frames_.rend(); ++it) around.push_back((*it)->type);
    const std::string what = UnknownField(name.text, around);
    const FieldDescriptor* meant = MeantField(name.text, around);
    if (options_.lenient) {
      problems_.Warn(name.at, what + " (ignored)");
    } else if (meant && CanStandFor(meant)) {
      problems_.Guess(name.at, what);
      return ReadKnown(frames_.back(), meant, name);
    } else {
      problems_.Error(name.at, what);
    }
  }
  tokens_.Next();
  if (Current().Is(':') || Current().Is('{') || Current().Is('<')) {
    SkipValue();
  } else {
    SkipLine(name.at.line);
  }
}

/// Whether what follows the name at hand can be read as the value of `field`.
bool TextParser::CanStandFor(const FieldDescriptor* field) const {
  const Token& next = tokens_.Ahead();
  const bool fits = field->message_type() ? next.Is('{') || next.Is('<') : next.Is(':');
  return fits && (field->is_repeated() || !frames_.back()->Given(field));
}

void TextParser::ReadValues(Frame* frame, const FieldDescriptor* field, const Token& name) {
  const bool is_message = field->message_type();
  const bool has_colon = Current().Is(':');
  if (has_colon) tokens_.Next();
  const bool has_brace = Current().Is('{') || Current().Is('<');
  if (!has_colon && !has_brace) {
    Complain(name, Text(is_message ? "\"{\"" : "\":\"", " missing after ", Quoted(name.text)));
    SkipLine(name.at.line);
  } else if (!is_message && has_brace) {
    Complain(Current(), Quoted(name.text) + " takes a value, not a message in braces");
    SkipBrackets();
  } else if (LacksValue()) {
    Complain(name, Quoted(name.text) + " has no value");
  } else if (Current().Is('[') && field->is_repeated()) {
    if (!ReadList(frame, field)) SkipLine(Current().at.line);
  } else if (!ReadItem(frame, field, name.at)) {
    SkipLine(Current().at.line);
  }
}

/// A closing bracket or the next field stands where a value should.
bool TextParser::LacksValue() const {
  return Current().IsEnd() || Current().Closes() || TextTokens::Names(Current(), tokens_.Ahead());
}

bool TextParser::ReadItem(Frame* frame, const FieldDescriptor* field, TextPosition at) {
  if (!field->message_type()) {
    const int index = field->is_repeated()
                          ? frame->message->GetReflection()->FieldSize(*frame->message, field)
                          : 0;
    places_.Add(field->name(), index, at);
    return values_.Read(frame->message, field);
  }
  if (Current().Is('{') || Current().Is('<')) {
    ReadMessage(frame, field, at);
    return true;
  }
  Complain(Current(), field->name() + " takes a message in braces, not " + Current().Shown());
  return false;
}

bool TextParser::ReadList(Frame* frame, const FieldDescriptor* field) {
  const TextPosition start = Current().at;
  tokens_.Next();
  if (Current().Is(']')) {
    tokens_.Next();
    return true;
  }
  while (true) {
    if (Current().Is(']') || LacksValue()) {
      Complain(Current(), "a value is missing in the list of " + field->name() + " before " +
                              Current().Shown());
    } else if (!ReadItem(frame, field, Current().at)) {
      SkipLine(Current().at.line);
    }
    if (back_to_ || problems_.Full()) return true;
    if (Current().Is(']')) break;
    if (!Current().Is(',')) {
      Complain(Current(), Text("\",\" or \"]\" expected in the list of ", field->name(), " at ",
                               At(start), ", not ", Current().Shown()));
      return Current().IsEnd() || Current().Closes();
    }
    tokens_.Next();
  }
  tokens_.Next();
  return true;
}

void TextParser::ReadMessage(Frame* frame, const FieldDescriptor* field, TextPosition at) {
  const google::protobuf::Reflection* reflection = frame->message->GetReflection();
  const int index = field->is_repeated() ? reflection->FieldSize(*frame->message, field) : 0;
  Message* message = field->is_repeated() ? reflection->AddMessage(frame->message, field)
                                          : reflection->MutableMessage(frame->message, field);
  ReadInto(message, field->name(), index, at);
}

/// The message in the braces at hand; it is item `index` of `field`.
void TextParser::ReadInto(Message* message, const std::string& field, int index, TextPosition at) {
  if (frames_.size() >= kMostDepth) {
    Complain(Current(), Text("messages within messages, ", kMostDepth, " deep"));
    return SkipBrackets();
  }
  TextPlaces::Inside inside(&places_, message, field, index, at);
  Frame inner{message, message->GetDescriptor(), at, CloserOf(Current().text), {}};
  tokens_.Next();
  frames_.push_back(&inner);
  ReadFields(&inner);
  frames_.pop_back();
  CheckRequired(inner);
}

/// A layer inside a layer: the brace before it is missing. Gives up the messages that are open up
/// to the one that takes layers.
bool TextParser::LeaveUnclosed(const Token& name) {
  if (!TextTokens::Names(name, tokens_.Ahead())) return false;
  for (size_t i = frames_.size() - 1; i-- > 0;) {
    const FieldDescriptor* field = FindTextField(frames_[i]->type, name.text);
    if (!field || !field->is_repeated() || !field->message_type() ||
        !SourceFieldOf(field->message_type())) {
      continue;
    }
    const Frame* open = frames_.back();
    if (tokens_.SwallowingLine() < open->start.line) {
      Complain(name, Text("\"", open->closer, "\" missing before ", Quoted(name.text), ": the ",
                          open->type->name(), " of ", At(open->start), " is still open"));
    }
    back_to_ = frames_[i];
    return true;
  }
  return false;
}

/// Says it of the innermost only, and not where a string may have swallowed the brace.
void TextParser::SayUnclosed(const std::string& what, TextPosition start) {
  if (!said_unclosed_ && tokens_.SwallowingLine() < start.line) {
    problems_.Error(start, "this " + what + " is never closed");
  }
  said_unclosed_ = true;
}

void TextParser::CheckRequired(const Frame& frame) {
  if (back_to_ || said_unclosed_) return;
  std::vector<std::string> missing;
  for (int i = 0; i < frame.type->field_count(); ++i) {
    const FieldDescriptor* field = frame.type->field(i);
    if (field->is_required() && !frame.Given(field)) missing.push_back(Quoted(field->name()));
  }
  if (!missing.empty()) {
    problems_.Error(frame.start, "this " + frame.type->name() + " lacks " + Join(missing, " and "));
  }
}

void TextParser::SkipValue() {
  if (Current().Is(':')) tokens_.Next();
  if (Current().Opens()) return SkipBrackets();
  if (LacksValue()) return;
  if (Current().Is('-')) tokens_.Next();
  if (Current().IsString()) {
    while (Current().IsString()) tokens_.Next();
  } else if (!LacksValue()) {
    tokens_.Next();
  }
}

/// Needs no stack of calls: brackets may be nested as deep as they like.
void TextParser::SkipBrackets() {
  const TextPosition start = Current().at;
  std::string closers;
  do {
    const Token& token = Current();
    if (token.IsEnd()) return SayUnclosed("bracket", start);
    if (token.Opens()) closers += CloserOf(token.text);
    if (token.Closes()) {
      if (!token.Is(closers.back())) {
        Complain(token, Text(token.Shown(), " where \"", closers.back(), "\" must close"));
      }
      closers.pop_back();
    }
    tokens_.Next();
  } while (!closers.empty());
}

void TextParser::SkipLine(int line) {
  while (!Current().IsEnd() && Current().at.line == line && !Current().Closes() &&
         !Current().Is(';') && !Current().Is(',') &&
         !TextTokens::Names(Current(), tokens_.Ahead())) {
    if (Current().Is('{') || Current().Is('[')) {
      SkipBrackets();
    } else {
      tokens_.Next();
    }
  }
}

}  // namespace moka
