#pragma once

#include <memory>
#include <string>

#include "moka/device/context.hpp"

namespace moka {

/// True in a build with CUDA.
bool BuiltWithCuda();

/// The GPU of that index. Throws Error when there is none or the build has no CUDA.
std::shared_ptr<Device> MakeCudaDevice(int index);

/// One line for each GPU: name, memory, compute capability; empty without a driver.
std::string DescribeCudaDevices();

/// cuBLAS for Gemm and Gemv of math.hpp, same arguments.
void CudaGemm(Context& context, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
              float alpha, const float* a, const float* b, float beta, float* c);
void CudaGemv(Context& context, bool transpose_a, int64_t m, int64_t n, float alpha, const float* a,
              const float* x, float beta, float* y);

}  // namespace moka
