#pragma once

#include <memory>
#include <string>
#include <vector>

#include "moka/proto/blob_io.hpp"
#include "moka/proto/hdf5_file.hpp"

namespace moka {

/// The path of a file below src/moka/test/data. Tests run in the root of the project; the
/// environment variable MOKA_TEST_DATA names another folder of data.
std::string TestData(const std::string& file);

/// A new empty folder, removed with all in it when the object dies.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The path of a file in the folder.
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

/// Writes a file without the care (and the time) that base/atomic_file.hpp takes.
void WriteFile(const std::string& path, const std::string& bytes);

/// A case computed by the original Caffe: a net or solver, its input and what came out.
///
/// The arrays and attributes that a net case has (conv, pool, ...; other groups have others):
///
/// attributes
///   phase TRAIN or TEST, level, stages, n_forward (forward passes on the same input before
///   recording), backward (1 if a backward pass was run), force_backward, loss (of the last pass),
///   net_inputs, net_outputs, loss_weights (one per net output), params_changed_by_forward,
///   params_not_accumulated ("layer/0"), note
/// arrays
///   input/BLOB, param/LAYER/I (before the pass), param_after/LAYER/I (if the forward pass changed
///   it), output/BLOB (after the last pass), top_diff/BLOB (gradient put into each net output
///   whose loss weight is 0), input_diff/BLOB, param_diff/LAYER/I, blob_diff/BLOB
///
/// Single layers agree when |a - b| <= 1e-5 * max|b| + 1e-6 * |b| + 1e-7 for every number; nets
/// with 2e-5, results of solvers with 1e-4 in place of 1e-5.
class GoldenCase {
 public:
  /// The case `name` of `group`. Throws when there is none.
  GoldenCase(const std::string& group, const std::string& name);

  const std::string& name() const { return name_; }

  /// Files beside the arrays, paths below the folder of the case ("net.prototxt", "db/data.mdb").
  std::vector<std::string> Files() const;
  bool HasFile(const std::string& file) const;
  /// The bytes of a file; by default the text of the net.
  std::string File(const std::string& file = "net.prototxt") const;
  /// Writes all files into `folder`, making the folders they stand in.
  void Unpack(const std::string& folder) const;

  bool HasAttribute(const std::string& attribute) const;
  /// Without white space at the ends: "nothing" is stored as one space.
  std::string String(const std::string& attribute) const;
  /// The parts of an attribute that is a list with commas or spaces between.
  std::vector<std::string> List(const std::string& attribute) const;
  int64_t Int(const std::string& attribute) const;
  double Double(const std::string& attribute) const;

  /// Whether there is an array or a group of arrays at `path` ("param/conv1/0", "top_diff").
  bool Has(const std::string& path) const;
  /// Paths of the arrays below `group`, relative to it: Arrays("param") has "conv1/0". Empty when
  /// there is no such group.
  std::vector<std::string> Arrays(const std::string& group) const;
  FloatArray Array(const std::string& path) const;
  std::vector<int64_t> Ints(const std::string& path) const;
  std::vector<std::string> Strings(const std::string& path) const;

 private:
  std::string At(const std::string& path) const { return name_ + "/" + path; }

  std::shared_ptr<const Hdf5File> file_;
  std::string name_;
};

/// Names of all cases of a group (act, conv, data, invalid, io, linear, loss, net, nets, norm,
/// pool, recurrent, shape, solver).
std::vector<std::string> GoldenNames(const std::string& group);

/// The cases of a group whose names begin with `prefix`.
std::vector<GoldenCase> GoldenCases(const std::string& group, const std::string& prefix = "");

}  // namespace moka
