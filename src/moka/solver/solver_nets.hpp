#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

namespace moka {

/// A net's description and the state it is built in.
struct NetSource {
  NetParameter param;
  NetState state;
};

struct SolverNets {
  NetSource train;
  std::vector<NetSource> test;
};

/// Checks the fields that no net is needed for. Without `problems` throws Error for the first
/// mistake, else gathers all of them.
void CheckSolver(const SolverParameter& param, std::vector<std::string>* problems = nullptr);

/// Reads the prototxt at a path that stands in the solver's field of that name.
using NetReader = std::function<NetParameter(const std::string& path, const std::string& field)>;

/// Reads the net that a field of the solver names; where there is no such file, the Error has the
/// field's place.
NetParameter ReadNet(const SolverParameter& param, const std::string& path,
                     const std::string& field, const TextOptions& options = TextOptions());

/// The nets that a solver trains and tests: `net` (or net_param) for both, or train_net and
/// test_net of their own; a test net for each test_iter. States are the phase, then what the
/// description says, then train_state or test_state. Throws Error when the fields contradict.
SolverNets FindNets(const SolverParameter& param, const NetReader& read);
SolverNets FindNets(const SolverParameter& param);

/// random_seed, or one drawn from the system (and logged) if it is negative.
uint64_t SeedOf(const SolverParameter& param);

/// Makes the folder for snapshots and warns if the disk is nearly full (promise 5).
void PrepareSnapshots(const SolverParameter& param);

}  // namespace moka
