#include "moka/layers/places.hpp"

#include "moka/device/for_each.hpp"
#include "moka/device/math.hpp"

namespace moka {
namespace {

/// A plane a call: values for the same place must come in order.
struct PutPlane {
  PlacedPlanes planes;
  ClassLabels places;
  const float* x;
  float* y;
  MOKA_HD void operator()(int64_t plane, int64_t) const {
    const int64_t begin = plane * planes.count;
    float* to = y + plane * planes.size;
    for (int64_t i = begin; i < begin + planes.count; ++i) to[places[i]] = x[i];
  }
};

struct TakePlane {
  PlacedPlanes planes;
  ClassLabels places;
  const float* dy;
  float* dx;
  MOKA_HD void operator()(int64_t plane, int64_t column) const {
    const int64_t i = plane * planes.count + column;
    dx[i] = dy[plane * planes.size + places[i]];
  }
};

}  // namespace

void PutToPlaces(Context& context, const PlacedPlanes& planes, const ClassLabels& places,
                 const float* x, float* y) {
  Fill(context, planes.planes * planes.size, 0, y);
  ForEach2D(context, planes.planes, 1, PutPlane{planes, places, x, y}, planes.count);
}

void TakeFromPlaces(Context& context, const PlacedPlanes& planes, const ClassLabels& places,
                    const float* dy, float* dx) {
  ForEach2D(context, planes.planes, planes.count, TakePlane{planes, places, dy, dx});
}

}  // namespace moka
