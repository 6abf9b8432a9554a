#pragma once

#include "moka/data/draws.hpp"
#include "moka/data/objects.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// Whether the samplers can give anything but the whole picture.
bool SamplesParts(const AnnotatedDataParameter& param);

/// One of the parts that the samplers of SSD give, picked at random; the whole picture when they
/// give none. A part meets a sampler's constraint when its bounds hold for one object.
Box SamplePart(const AnnotatedDataParameter& param, const Objects& objects, Draws* draws);

/// Throws Error for limits that contradict each other.
void CheckSamplers(const AnnotatedDataParameter& param);

}  // namespace moka
