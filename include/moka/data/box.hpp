#pragma once

#include <cmath>

#include "moka/base/host_device.hpp"

namespace moka {

/// A box, its edges as shares of a picture's width and height: (0, 0) is the upper left corner and
/// (1, 1) the lower right. A box whose edges are the wrong way round is empty.
struct Box {
  float xmin = 0, ymin = 0, xmax = 0, ymax = 0;

  MOKA_HD float width() const { return xmax - xmin; }
  MOKA_HD float height() const { return ymax - ymin; }
};

/// The box of a NormalizedBBox, or of another message with these four fields.
template <typename Message>
Box BoxOf(const Message& message) {
  return {message.xmin(), message.ymin(), message.xmax(), message.ymax()};
}

/// 0 for an empty box.
MOKA_HD float Area(const Box& box) {
  return box.width() > 0 && box.height() > 0 ? box.width() * box.height() : 0.0f;
}

/// What two boxes have in common; empty when they do not meet.
MOKA_HD Box Intersection(const Box& a, const Box& b) {
  return {fmaxf(a.xmin, b.xmin), fmaxf(a.ymin, b.ymin), fminf(a.xmax, b.xmax),
          fminf(a.ymax, b.ymax)};
}

/// Intersection / union (Jaccard index); 0 when both are empty.
MOKA_HD float Overlap(const Box& a, const Box& b) {
  const float common = Area(Intersection(a, b));
  const float all = Area(a) + Area(b) - common;
  return all > 0 ? common / all : 0.0f;
}

/// The share of `box` that lies in `by`; 0 for an empty box.
MOKA_HD float Coverage(const Box& box, const Box& by) {
  const float area = Area(box);
  return area > 0 ? Area(Intersection(box, by)) / area : 0.0f;
}

/// The part of the box that lies in the picture.
MOKA_HD Box Clip(const Box& box) {
  return {fminf(fmaxf(box.xmin, 0.0f), 1.0f), fminf(fmaxf(box.ymin, 0.0f), 1.0f),
          fminf(fmaxf(box.xmax, 0.0f), 1.0f), fminf(fmaxf(box.ymax, 0.0f), 1.0f)};
}

/// A box of the picture in the coordinates of `part`, another box of it. May reach beyond 0 to 1.
MOKA_HD Box Relative(const Box& box, const Box& part) {
  return {(box.xmin - part.xmin) / part.width(), (box.ymin - part.ymin) / part.height(),
          (box.xmax - part.xmin) / part.width(), (box.ymax - part.ymin) / part.height()};
}

/// The inverse of Relative: a box in the coordinates of `part` as a box of the picture.
MOKA_HD Box Absolute(const Box& box, const Box& part) {
  return {part.xmin + box.xmin * part.width(), part.ymin + box.ymin * part.height(),
          part.xmin + box.xmax * part.width(), part.ymin + box.ymax * part.height()};
}

}  // namespace moka
