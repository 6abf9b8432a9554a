#pragma once

#include <string>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/proto/model_io.hpp"

namespace moka {

struct WeightsOptions {
  /// Layers of either side without a partner are errors.
  bool strict = false;
  /// Layers whose shapes differ keep what they have instead of being errors.
  bool skip_mismatch = false;
};

/// What became of each layer, by name.
struct WeightsReport {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;     // learn something, but are not in the model
  std::vector<std::string> unused;      // in the model, but not in the net
  std::vector<std::string> mismatched;  // with the shapes of both sides

  /// A few lines for the log (promise 16).
  std::string ToString() const;
};

/// Copies a model's blobs into the layers of the same name. Shapes must be equal up to leading axes
/// of length 1, which older files have (1 x 1 x N x K for N x K). Where params are shared, the last
/// layer of the model wins, as in Caffe.
///
/// Throws one Error that lists all layers that do not fit, and changes nothing then.
WeightsReport CopyWeights(const Model& model, Net* net,
                          const WeightsOptions& options = WeightsOptions());

/// Reads model files and copies them in order; logs what was taken from each. An entry may be
/// several files with commas between.
void LoadWeights(const std::vector<std::string>& files, Net* net,
                 const WeightsOptions& options = WeightsOptions());

/// The net's description with its blobs, as model files hold it; with `diffs`, their gradients too.
NetParameter WithBlobs(const Net& net, bool diffs);

}  // namespace moka
