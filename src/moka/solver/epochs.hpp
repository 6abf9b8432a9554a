#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "moka/net/net.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The records of one pass over the data that a net reads, and how many a batch has.
struct DataSize {
  int64_t records = 0;
  int64_t batch = 0;

  /// Batches that a pass takes, the last of which may have fewer records.
  int64_t batches() const { return (records + batch - 1) / batch; }
};

/// Throws Error, which begins with `what_for`, where no layer knows how many records there are, or
/// layers of one net have passes of different lengths.
DataSize DataSizeOf(const Net& net, const char* what_for);

/// For a solver with max_epoch: sets max_iter to that many passes over the data of its net.
void SetIterations(const Net& net, SolverParameter* param);

/// For a solver without test_iter: sets it to one pass over the data of each test net, whose
/// batches end with the data from now on.
void TestInOnePass(const std::vector<std::unique_ptr<Net>>& tests, SolverParameter* param);

}  // namespace moka
