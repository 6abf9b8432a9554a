#include "moka/device/cuda/cuda_device.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <climits>

#include "moka/base/error.hpp"
#include "moka/base/strings.hpp"
#include "moka/device/host_memory.hpp"

namespace moka {

/// Declared in for_each.hpp, which only nvcc reads.
void CheckCudaLaunch();

namespace {

void Check(cudaError_t status, const std::string& what) {
  Require(status == cudaSuccess, what, ": ", cudaGetErrorString(status));
}

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {}

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  std::string name() const override { return "cuda:" + std::to_string(index_); }

  void* Allocate(size_t bytes) override {
    Select();
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
    if (status != cudaSuccess) {
      cudaGetLastError();
      size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      throw Error(Text(name(), " has no ", HumanBytes(static_cast<double>(bytes)), " left (",
                       HumanBytes(static_cast<double>(free)), " of ",
                       HumanBytes(static_cast<double>(total)), " free)"))
          .Hint("lower batch_size (iter_size keeps the effective batch)");
    }
    return memory;
  }
  void Free(void* memory) noexcept override {
    cudaSetDevice(index_);
    cudaFree(memory);
  }
  void* AllocateHost(size_t bytes) override { return AllocateAligned(bytes); }
  void FreeHost(void* memory) noexcept override { FreeAligned(memory); }

  void Upload(void* to, const void* from, size_t bytes, void* stream) override {
    CopyWaiting(to, from, bytes, cudaMemcpyHostToDevice, stream);
  }
  void Download(void* to, const void* from, size_t bytes, void* stream) override {
    CopyWaiting(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  }

  void* CreateStream() override {
    Select();
    cudaStream_t stream = nullptr;
    Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cannot create a CUDA stream");
    return stream;
  }
  void DestroyStream(void* stream) noexcept override {
    if (stream != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(stream));
  }
  void Synchronize(void* stream) override {
    Check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "error on " + name());
  }

 private:
  void Select() { Check(cudaSetDevice(index_), "cannot use " + name()); }

  void CopyWaiting(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, void* stream) {
    Select();
    Check(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(stream)),
          "copy with " + name());
    Synchronize(stream);
  }

  int index_;
};

void CheckBlas(cublasStatus_t status, const char* what) {
  Require(status == CUBLAS_STATUS_SUCCESS, "cuBLAS ", what, ": ", cublasGetStatusString(status));
}

std::shared_ptr<void> MakeBlas(Context& context) {
  cublasHandle_t handle = nullptr;
  CheckBlas(cublasCreate(&handle), "start");
  const std::shared_ptr<void> owner(handle,
                                    [](void* h) { cublasDestroy(static_cast<cublasHandle_t>(h)); });
  CheckBlas(cublasSetStream(handle, static_cast<cudaStream_t>(context.stream())), "stream");
  return owner;
}

cublasHandle_t Blas(Context& context) {
  return static_cast<cublasHandle_t>(context.Handle("cublas", MakeBlas));
}

}  // namespace

void CheckCudaLaunch() { Check(cudaGetLastError(), "kernel launch"); }

bool BuiltWithCuda() { return true; }

std::shared_ptr<Device> MakeCudaDevice(int index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  Require(status == cudaSuccess, "no usable GPU: ", cudaGetErrorString(status));
  Require(index >= 0 && index < count, "there is no cuda:", index, "; this machine has ", count,
          " GPU(s)");
  return std::make_shared<CudaDevice>(index);
}

std::string DescribeCudaDevices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return "";
  std::string lines;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    lines += Text("cuda:", i, "  ", properties.name, ", ",
                  HumanBytes(static_cast<double>(properties.totalGlobalMem)),
                  ", compute capability ", properties.major, ".", properties.minor, ", ",
                  properties.multiProcessorCount, " multiprocessors\n");
  }
  return lines;
}

// cuBLAS is column-major: a row-major C = A B is its C' = B' A'.
void CudaGemm(Context& context, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
              float alpha, const float* a, const float* b, float beta, float* c) {
  CheckBlas(cublasSgemm_64(Blas(context), transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                           transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b,
                           transpose_b ? k : n, a, transpose_a ? m : k, &beta, c, n),
            "gemm");
}

void CudaGemv(Context& context, bool transpose_a, int64_t m, int64_t n, float alpha, const float* a,
              const float* x, float beta, float* y) {
  CheckBlas(cublasSgemv_64(Blas(context), transpose_a ? CUBLAS_OP_N : CUBLAS_OP_T, n, m, &alpha, a,
                           n, x, 1, &beta, y, 1),
            "gemv");
}

}  // namespace moka
