#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moka/solver/solver.hpp"
#include "moka/test/golden.hpp"

namespace moka {

/// LeNet for pictures of 28 x 28 with something to learn in them, in an LMDB of its own: what tests
/// of training run on. The folder is gone with the object.
class LenetTraining {
 public:
  /// `pictures` records of 10 classes.
  explicit LenetTraining(int pictures = 100);

  /// An LMDB with these pictures.
  std::string database() const { return folder_ / "lmdb"; }
  /// The path of a file in the folder.
  std::string operator/(const std::string& file) const { return folder_ / file; }

  /// A solver with the net in it, SGD with momentum, without tests and snapshots at intervals;
  /// `fields` are fields of SolverParameter in text, which replace those of the same name.
  SolverParameter Param(int batch_size, const std::string& fields = "") const;

  /// The same, with all that is random: shuffling, random crops, mirroring and dropout.
  SolverParameter RandomParam(int batch_size, const std::string& fields = "") const;

 private:
  SolverParameter Make(const std::string& transform, const std::string& data,
                       const std::string& regularizer, const std::string& fields) const;

  ScratchFolder folder_;
};

/// All weights and all history values, and the smoothed loss.
std::vector<std::vector<float>> Everything(Solver* solver);

}  // namespace moka
