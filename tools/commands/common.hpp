#pragma once

#include <gflags/gflags.h>

#include <memory>
#include <string>

#include "command.hpp"
#include "moka/device/context.hpp"
#include "moka/net/weights.hpp"
#include "moka/proto/moka.pb.h"
#include "moka/proto/text_reader.hpp"

// The flags that several commands take.
DECLARE_string(gpu);
DECLARE_string(device);
DECLARE_int32(threads);
DECLARE_string(solver);
DECLARE_string(model);
DECLARE_string(weights);
DECLARE_string(phase);
DECLARE_int32(level);
DECLARE_string(stage);
DECLARE_int32(iterations);
DECLARE_bool(lenient);
DECLARE_bool(strict);
DECLARE_bool(skip_mismatch);

namespace moka {

/// Throws UsageError unless the string flag was given: `--model is needed: the net's prototxt`.
void RequireFlag(const std::string& name);

/// The device that --gpu and --device ask for, with --threads; the CPU if neither is given.
/// Throws Error where there is no such device.
std::shared_ptr<Context> ContextFromFlags();

/// For a solver. Without --gpu its solver_mode counts, as in Caffe; a solver that wants a GPU where
/// none can be used runs on the CPU, and says so.
std::shared_ptr<Context> ContextFromFlags(const SolverParameter& solver);

/// --phase (`fallback` if not given), --level and --stage.
NetState StateFromFlags(Phase fallback);

/// --threads. Throws UsageError for numbers that no machine has.
int ThreadsFromFlags();

/// --strict and --skip_mismatch.
WeightsOptions WeightsOptionsFromFlags();

/// --lenient.
TextOptions TextOptionsFromFlags();

/// The net that --model names. Throws UsageError if it was not given, Error for what is wrong in
/// it.
NetParameter ReadModelFromFlags();

}  // namespace moka
