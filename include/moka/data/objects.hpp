#pragma once

#include <cstdint>
#include <vector>

#include "moka/data/box.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// An object in a picture, as AnnotatedData's labels tell it.
struct Object {
  int label = 0;
  int instance = 0;
  bool difficult = false;
  Box box;
};

using Objects = std::vector<Object>;

/// The objects of a record, class by class.
Objects ObjectsOf(const AnnotatedDatum& record);

/// Moves objects to where they are in `part` of their picture. Boxes are clipped; objects of which
/// nothing is left go, and those that do not meet the constraint, if there is one: their centre, or
/// more than a share of their box, must lie in the part.
void KeepObjectsIn(const Box& part, const EmitConstraint* constraint, Objects* objects);

/// Left becomes right.
void MirrorObjects(Objects* objects);

}  // namespace moka
