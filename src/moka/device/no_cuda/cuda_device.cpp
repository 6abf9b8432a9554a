// Stands in for device/cuda in a build without CUDA.
#include "moka/device/cuda/cuda_device.hpp"

#include "moka/base/error.hpp"

namespace moka {
namespace {

[[noreturn]] void NoCuda() {
  throw Error("this moka was built without CUDA").Hint("use --gpu='' or build where nvcc is found");
}

}  // namespace

bool BuiltWithCuda() { return false; }

std::shared_ptr<Device> MakeCudaDevice(int) { NoCuda(); }

std::string DescribeCudaDevices() { return ""; }

void CudaGemm(Context&, bool, bool, int64_t, int64_t, int64_t, float, const float*, const float*,
              float, float*) {
  NoCuda();
}

void CudaGemv(Context&, bool, int64_t, int64_t, float, const float*, const float*, float, float*) {
  NoCuda();
}

}  // namespace moka
