#include "common.hpp"

#include <glog/logging.h>

#include "moka/base/strings.hpp"

DEFINE_string(gpu, "", "the GPU to run on: its number, or \"all\"; empty runs on the CPU");
DEFINE_string(device, "", "for tests: cpu, shadow or cuda:N");
DEFINE_int32(threads, 0, "threads of the CPU to use; 0 takes one a physical core");
DEFINE_string(solver, "", "the solver's prototxt");
DEFINE_string(model, "", "the net's prototxt");
DEFINE_string(weights, "", "trained weights: caffemodel or HDF5 files, separated by commas");
DEFINE_string(phase, "", "TRAIN or TEST: which layers belong to the net");
DEFINE_int32(level, 0, "the level of the net's state, for min_level and max_level of its rules");
DEFINE_string(stage, "", "the stages of the net's state, separated by commas");
DEFINE_int32(iterations, 50, "how many batches to run");
DEFINE_bool(strict, false, "weights: layers without a partner in the file or the net are errors");
DEFINE_bool(skip_mismatch, false, "weights: layers whose shapes differ keep what they have");
DEFINE_bool(lenient, false, "take unknown fields of a prototxt for warnings, not errors");

namespace moka {
namespace {

bool HasDevice(const std::string& name) {
  try {
    MakeDevice(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The device's name, empty if the flags do not say.
std::string DeviceFromFlags() {
  if (!FLAGS_device.empty()) return FLAGS_device;
  if (FLAGS_gpu.empty()) return "";
  if (FLAGS_gpu.find(',') != std::string::npos || (FLAGS_gpu == "all" && HasDevice("cuda:1"))) {
    throw Error(Text("--gpu=", FLAGS_gpu, ": work on several GPUs at once comes later"))
        .Hint("give the number of one; `moka device_query` lists them");
  }
  const bool is_number = FLAGS_gpu.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number && FLAGS_gpu != "all") {
    throw UsageError(Text("--gpu takes the number of a GPU or \"all\", not \"", FLAGS_gpu, "\""));
  }
  return "cuda:" + (is_number ? FLAGS_gpu : "0");
}

std::shared_ptr<Context> MakeContext(const std::string& device) {
  return std::make_shared<Context>(device, ThreadsFromFlags());
}

}  // namespace

int ThreadsFromFlags() {
  constexpr int kMostThreads = 1024;
  if (FLAGS_threads < 0 || FLAGS_threads > kMostThreads) {
    throw UsageError(Text("--threads=", FLAGS_threads, " cannot be: it takes 0 to ", kMostThreads));
  }
  return FLAGS_threads;
}

void RequireFlag(const std::string& name) {
  const auto info = gflags::GetCommandLineFlagInfoOrDie(name.c_str());
  if (info.current_value.empty()) {
    throw UsageError(Text("--", name, "=... is needed: ", info.description));
  }
}

std::shared_ptr<Context> ContextFromFlags() {
  const std::string device = DeviceFromFlags();
  return MakeContext(device.empty() ? "cpu" : device);
}

std::shared_ptr<Context> ContextFromFlags(const SolverParameter& solver) {
  std::string device = DeviceFromFlags();
  if (!device.empty()) return MakeContext(device);
  if (solver.solver_mode() == SolverParameter::CPU) return MakeContext("cpu");
  device = Text("cuda:", solver.device_id());
  if (HasDevice(device)) return MakeContext(device);
  if (solver.has_solver_mode()) {
    LOG(WARNING) << "solver_mode: GPU, but " << device << " cannot be used: running on the CPU";
  } else {
    LOG(INFO) << "No usable GPU: running on the CPU";
  }
  return MakeContext("cpu");
}

NetState StateFromFlags(Phase fallback) {
  NetState state;
  state.set_phase(fallback);
  if (!FLAGS_phase.empty()) {
    Phase phase;
    if (!Phase_Parse(FLAGS_phase, &phase)) {
      throw UsageError(Text("--phase takes TRAIN or TEST, not \"", FLAGS_phase, "\""));
    }
    state.set_phase(phase);
  }
  if (FLAGS_level != 0) state.set_level(FLAGS_level);
  for (const std::string& stage : Split(FLAGS_stage, ',')) state.add_stage(stage);
  return state;
}

WeightsOptions WeightsOptionsFromFlags() {
  WeightsOptions options;
  options.strict = FLAGS_strict;
  options.skip_mismatch = FLAGS_skip_mismatch;
  return options;
}

TextOptions TextOptionsFromFlags() {
  TextOptions options;
  options.lenient = FLAGS_lenient;
  return options;
}

NetParameter ReadModelFromFlags() {
  RequireFlag("model");
  NetParameter net;
  ReadText(FLAGS_model, &net, TextOptionsFromFlags());
  return net;
}

}  // namespace moka
