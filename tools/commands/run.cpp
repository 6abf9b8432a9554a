#include <gflags/gflags.h>

#include "command.hpp"
#include "common.hpp"
#include "moka/base/atomic_file.hpp"
#include "moka/base/strings.hpp"
#include "moka/net/run_net.hpp"
#include "moka/net/weights.hpp"
#include "moka/proto/hdf5_file.hpp"

DEFINE_string(input, "", "the HDF5 file to read arrays from");
DEFINE_string(output, "", "the HDF5 file to write arrays to");
DEFINE_bool(backward, false, "compute gradients, too");
DEFINE_bool(force_backward, false, "compute the gradients of all blobs, needed or not");
DEFINE_int32(forward_times, 1, "how many forward passes to run on the same input");

namespace moka {
namespace {

NamedArrays ReadArrays(const std::string& path) {
  const Hdf5File file = Hdf5File::Open(path);
  NamedArrays arrays;
  for (const char* group : {"input", "param", "top_diff"}) {
    if (!file.Has(group)) continue;
    for (const std::string& name : file.Arrays(group)) {
      const std::string array = Text(group, "/", name);
      file.Read(array, &arrays[array].shape, &arrays[array].data);
    }
  }
  return arrays;
}

void WriteResult(const RunResult& result, const std::string& path) {
  WriteAtomically(path, [&](const std::string& temporary) {
    Hdf5File file = Hdf5File::Create(temporary);
    for (const auto& [name, array] : result.arrays) {
      file.Write(name, array.shape, array.data.data());
    }
    file.SetAttribute("loss", result.loss);
    file.Close();
  });
}

int Run(const std::vector<std::string>&) {
  NetParameter param = ReadModelFromFlags();
  RequireFlag("input");
  RequireFlag("output");
  if (FLAGS_forward_times < 1) throw UsageError("--forward_times is at least 1");
  if (FLAGS_force_backward) param.set_force_backward(true);
  const NamedArrays given = ReadArrays(FLAGS_input);
  Net net(param, StateFromFlags(TEST), ContextFromFlags());
  LoadWeights({FLAGS_weights}, &net, WeightsOptionsFromFlags());
  RunOptions options;
  options.forward_times = FLAGS_forward_times;
  options.backward = FLAGS_backward;
  WriteResult(RunNet(&net, given, options), FLAGS_output);
  return 0;
}

const RegisterCommand kRegistration(
    {"run",
     "runs a net on arrays from an HDF5 file",
     "moka run --model=NET --input=IN.h5 --output=OUT.h5 [--weights=FILE] [--backward]",
     "Reads input/BLOB (values of Input blobs, which take the shape of the array),\n"
     "param/LAYER/I (params, which win over those of --weights) and top_diff/BLOB (gradients of\n"
     "outputs without a loss weight; zero if not given).\n"
     "Writes output/BLOB (all blobs after the last pass but splits and unchanged inputs),\n"
     "param_after/LAYER/I (params that the forward passes changed), with --backward also\n"
     "input_diff/BLOB and param_diff/LAYER/I, and the attribute `loss`.\n"
     "The phase is TEST unless --phase says otherwise.",
     {"model", "weights", "strict", "skip_mismatch", "input", "output", "backward",
      "force_backward", "forward_times", "phase", "level", "stage", "gpu", "device", "threads",
      "lenient"},
     0,
     Run});

}  // namespace
}  // namespace moka
