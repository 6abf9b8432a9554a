#pragma once

#include <string>
#include <vector>

namespace moka {

/// The golden cases of group data that are nets of one data layer.

/// Runs case `name` as a net on `device`, as many passes as the case has batches, and expects every
/// blob of every batch to be equal to the last bit. Skips what the build has no database for.
void CheckBatches(const std::string& name, const std::string& device);

/// Does with a case of group invalid what its action says, and expects an Error that begins with
/// the layer's place and contains every part.
void ExpectRefused(const std::string& name, const std::vector<std::string>& parts);

}  // namespace moka
