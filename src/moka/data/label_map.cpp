#include "moka/data/label_map.hpp"

#include <algorithm>

#include "moka/base/error.hpp"
#include "moka/proto/text_reader.hpp"

namespace moka {
namespace {

template <typename Is>
const LabelMapItem* Find(const LabelMap& map, const Is& is) {
  const auto found = std::find_if(map.item().begin(), map.item().end(), is);
  return found == map.item().end() ? nullptr : &*found;
}

}  // namespace

LabelMap ReadLabelMap(const std::string& path) {
  LabelMap map;
  ReadText(path, &map);
  for (const LabelMapItem& item : map.item()) {
    const LabelMapItem* number = FindLabel(map, item.label());
    Require(number == &item, path, ": label ", item.label(), " is given to \"", number->name(),
            "\" and to \"", item.name(), "\"");
    Require(FindName(map, item.name()) == &item, path, ": two labels are called \"", item.name(),
            "\"");
  }
  return map;
}

const LabelMapItem* FindLabel(const LabelMap& map, int label) {
  return Find(map, [&](const LabelMapItem& item) { return item.label() == label; });
}

const LabelMapItem* FindName(const LabelMap& map, const std::string& name) {
  return Find(map, [&](const LabelMapItem& item) { return item.name() == name; });
}

const std::string& DisplayName(const LabelMapItem& item) {
  return item.display_name().empty() ? item.name() : item.display_name();
}

}  // namespace moka
