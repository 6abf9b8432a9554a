#pragma once

#include <string>

#include "moka/proto/moka.pb.h"

namespace moka {

/// Reads a label map: a text file with a LabelMap, the names and numbers of the classes of a data
/// set for detection, as SSD's data tools use it.
///
/// Throws MissingFile when there is no such file, Error with its place for what cannot be read, and
/// when two classes have the same name or number.
LabelMap ReadLabelMap(const std::string& path);

/// The class with number `label`; null when there is none.
const LabelMapItem* FindLabel(const LabelMap& map, int label);

/// The class that annotations call `name`; null when there is none.
const LabelMapItem* FindName(const LabelMap& map, const std::string& name);

/// The name of a class for people: display_name, else name.
const std::string& DisplayName(const LabelMapItem& item);

}  // namespace moka
