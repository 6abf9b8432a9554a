#pragma once

#include <map>
#include <memory>
#include <string>

#include "moka/net/net.hpp"
#include "moka/proto/blob_io.hpp"

namespace moka {

struct RunOptions {
  /// Forward passes on the same inputs; the last one is recorded.
  int forward_times = 1;
  bool backward = false;
};

/// Arrays by path, like those of `moka run`'s HDF5 files: "input/data", "param/conv1/0".
using NamedArrays = std::map<std::string, FloatArray>;

struct RunResult {
  NamedArrays arrays;
  double loss = 0;
};

/// Runs a net on arrays. Of `given` it takes
///   input/<blob>       values of Input blobs; a blob takes the array's shape
///   param/<layer>/<i>  params; those not given keep what the net has
///   top_diff/<blob>    gradients of outputs that have no loss weight, zero if not given
/// and it returns
///   output/<blob>         all blobs after the last pass, without splits and unchanged inputs
///   param_after/<layer>/<i>  params that the forward passes changed
///   input_diff/<blob>     gradients of inputs, where there is one       (backward)
///   param_diff/<layer>/<i>  gradients of params after one backward pass  (backward)
/// Throws Error for arrays that name no blob, layer or param of the net and for wrong shapes.
RunResult RunNet(Net* net, const NamedArrays& given, const RunOptions& options = RunOptions());

}  // namespace moka
