#pragma once

#include <set>

#include "moka/layers/layer.hpp"

namespace moka {

/// Finds what is wrong with a layer whatever the shapes of the bottoms in `unknown` are: it is set
/// up with several shapes, small ones and large ones, of one axis to five. Throws Error if all of
/// them fail and the message does not depend on the lengths of the axes.
void CheckForAnyShape(const LayerParameter& param, const BlobVector& bottoms,
                      const std::set<const Blob*>& unknown, const Context& context);

}  // namespace moka
