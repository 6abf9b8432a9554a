#pragma once

#include <string>
#include <vector>

#include "moka/net/net.hpp"

namespace moka {

/// A net that can run without its data: layers that read from outside become Input layers.
///
/// With a `shape` all of them, whose first top then has that shape (the first axis is the batch,
/// also for labels); Input layers that are there already take it as well. Without, only those whose
/// data is not there, in the shape that their fields tell, with a line for each in `notes`; throws
/// Error where they do not tell.
NetParameter WithRandomData(const NetParameter& net, const NetState& state, const Context& context,
                            const Shape& shape, std::vector<std::string>* notes);

/// --data_shape, no axes if it was not given. Throws UsageError unless it is a list of numbers.
Shape DataShapeFromFlag();

/// Fills the inputs with random values, normally distributed like pictures less their mean, and
/// those that nothing has a derivative for (labels) with 0, which always is a class.
void FillInputs(Net* net);

}  // namespace moka
