#include "moka/proto/text_places.hpp"

namespace moka {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Weights can be written in text; nobody asks where the millionth number stands.
constexpr int kMostItems = 100;

SourcePlace* SourceOf(Message* message) {
  const FieldDescriptor* field = SourceFieldOf(message->GetDescriptor());
  if (!field) return nullptr;
  return static_cast<SourcePlace*>(message->GetReflection()->MutableMessage(message, field));
}

}  // namespace

void TextPlaces::Add(const std::string& field, int index, TextPosition at) {
  if (!place_ || index >= kMostItems) return;
  FieldPlace* place = place_->add_field();
  place->set_path(PathOf(field, index));
  place->set_line(at.line);
  place->set_column(at.column);
}

std::string TextPlaces::PathOf(const std::string& field, int index) const {
  const std::string path = path_ + field;
  return index > 0 ? path + "[" + std::to_string(index) + "]" : path;
}

TextPlaces::Inside::Inside(TextPlaces* places, Message* message, const std::string& field,
                           int index, TextPosition at)
    : places_(places), outer_(places->place_), outer_path_(places->path_) {
  SourcePlace* own = SourceOf(message);
  if (own) {
    own->set_file(places->file_);
    own->set_line(at.line);
    own->set_column(at.column);
    places->place_ = own;
    places->path_.clear();
  } else if (!field.empty()) {
    places->Add(field, index, at);
    places->path_ = places->PathOf(field, index) + ".";
  }
}

TextPlaces::Inside::~Inside() {
  places_->place_ = outer_;
  places_->path_ = std::move(outer_path_);
}

}  // namespace moka
