#pragma once

#include "moka/layers/class_labels.hpp"

namespace moka {

/// Planes of values each of which has a place, h * width + w, in a plane of another size: the
/// second top of MAX pooling says where its maxima were.
struct PlacedPlanes {
  int64_t planes = 0;
  int64_t count = 0;  // of values in a plane
  int64_t size = 0;   // of the planes with the places
};

/// The words for a place.
inline const LabelWords kPlaces{
    "place", "the output must be as large as the input of the Pooling that gave the places"};

/// Every value to its place, zeros elsewhere; of several values for one place the last stays.
void PutToPlaces(Context& context, const PlacedPlanes& planes, const ClassLabels& places,
                 const float* x, float* y);

/// The way back: what stands at each place.
void TakeFromPlaces(Context& context, const PlacedPlanes& planes, const ClassLabels& places,
                    const float* dy, float* dx);

}  // namespace moka
