#include "moka/data/objects.hpp"

#include <algorithm>

namespace moka {
namespace {

bool Meets(const EmitConstraint& constraint, const Box& box, const Box& part) {
  if (constraint.emit_type() == EmitConstraint::MIN_OVERLAP) {
    return Coverage(box, part) > constraint.emit_overlap();
  }
  const float x = (box.xmin + box.xmax) / 2, y = (box.ymin + box.ymax) / 2;
  return x >= part.xmin && x <= part.xmax && y >= part.ymin && y <= part.ymax;
}

}  // namespace

Objects ObjectsOf(const AnnotatedDatum& record) {
  Objects objects;
  for (const AnnotationGroup& group : record.annotation_group()) {
    for (const Annotation& annotation : group.annotation()) {
      const NormalizedBBox& box = annotation.bbox();
      objects.push_back(
          {group.group_label(), annotation.instance_id(), box.difficult(), BoxOf(box)});
    }
  }
  return objects;
}

void KeepObjectsIn(const Box& part, const EmitConstraint* constraint, Objects* objects) {
  const auto gone = [&](Object& object) {
    if (constraint && !Meets(*constraint, object.box, part)) return true;
    object.box = Clip(Relative(object.box, part));
    return Area(object.box) <= 0;
  };
  objects->erase(std::remove_if(objects->begin(), objects->end(), gone), objects->end());
}

void MirrorObjects(Objects* objects) {
  for (Object& object : *objects) {
    const float xmin = object.box.xmin;
    object.box.xmin = 1 - object.box.xmax;
    object.box.xmax = 1 - xmin;
  }
}

}  // namespace moka
