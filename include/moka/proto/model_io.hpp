#pragma once

#include <string>
#include <vector>

#include "moka/proto/blob_io.hpp"
#include "moka/proto/moka.pb.h"

namespace moka {

/// The weights of one layer of a model file.
struct ModelLayer {
  std::string name;
  std::string type;  ///< today's name; empty when the file does not say (HDF5)
  std::vector<FloatArray> blobs;
};

/// What a model file holds.
struct Model {
  std::string path;
  std::vector<ModelLayer> layers;
};

/// The largest message that protobuf can write and read.
constexpr int64_t kLargestMessage = 0x7FFFFFFF;

/// Reads the weights in the file at `path`, whose kind is seen from its content: a binary
/// NetParameter with layers of any age (V0, V1, today's), or HDF5 (data/LAYER/I). A layer named
/// "a/b" in HDF5 is the group data/a/b.
///
/// Throws an Error that says what the file is when it is no model, where it is cut short or
/// damaged, and which blob of which layer has a shape that its values do not fit.
Model ReadModel(const std::string& path);

/// Writes a net with its blobs so that Caffe can read it; the file at `path` appears whole or not
/// at all. Places in the source are left out. Returns the path of the file: as HDF5 has no limit,
/// a net of more than `largest` bytes is written as HDF5 to `path` + ".h5" though BINARYPROTO was
/// asked for, and a warning is logged.
std::string WriteModel(const std::string& path, NetParameter net,
                       SolverParameter::SnapshotFormat format, int64_t largest = kLargestMessage);

/// Reads a solver's state: a binary SolverState, or HDF5 (iter, learned_net, current_step,
/// history/I). States written by moka carry a checksum, which must fit; Caffe's have none.
///
/// Throws an Error that says what the file is when it is no solver state, and when it is damaged.
SolverState ReadSolverState(const std::string& path);

/// Writes a solver's state with a checksum, whole or not at all, so that Caffe can read it. History
/// blobs must be as ToBlobProto makes them. Returns the path, which has ".h5" added where the state
/// is too large for BINARYPROTO, see WriteModel.
std::string WriteSolverState(const std::string& path, SolverState state,
                             SolverParameter::SnapshotFormat format,
                             int64_t largest = kLargestMessage);

}  // namespace moka
