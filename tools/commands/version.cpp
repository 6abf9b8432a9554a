#include <cblas.h>
#include <google/protobuf/stubs/common.h>
#include <hdf5.h>
#include <lmdb.h>

#include <iostream>
#include <opencv2/core/version.hpp>
#ifdef MOKA_CUDA
#include <cuda_runtime_api.h>
#endif
#ifdef MOKA_CUDNN
#include <cudnn.h>
#endif
#ifdef MOKA_NCCL
#include <nccl.h>
#endif
#ifdef MOKA_DNNL
#include <dnnl_version.h>
#endif

#include "command.hpp"
#include "moka/base/version.hpp"
#include "table.hpp"

namespace moka {
namespace {

const std::string kNotBuilt = "not built in";

std::string CudaVersion() {
#ifdef MOKA_CUDA
  return Text(CUDART_VERSION / 1000, ".", CUDART_VERSION / 10 % 100);
#else
  return kNotBuilt;
#endif
}

std::string CudnnVersion() {
#ifdef MOKA_CUDNN
  return Text(CUDNN_MAJOR, ".", CUDNN_MINOR, ".", CUDNN_PATCHLEVEL);
#else
  return kNotBuilt;
#endif
}

std::string NcclVersion() {
#ifdef MOKA_NCCL
  return Text(NCCL_MAJOR, ".", NCCL_MINOR, ".", NCCL_PATCH);
#else
  return kNotBuilt;
#endif
}

std::string DnnlVersion() {
#ifdef MOKA_DNNL
  return Text(DNNL_VERSION_MAJOR, ".", DNNL_VERSION_MINOR, ".", DNNL_VERSION_PATCH);
#else
  return kNotBuilt;
#endif
}

std::string BlasVersion() {
#ifdef OPENBLAS_VERSION
  return openblas_get_config();
#else
  return "as linked";
#endif
}

std::string ProtobufVersion() {
  constexpr int kNumber = GOOGLE_PROTOBUF_VERSION;
  return Text(kNumber / 1000000, ".", kNumber / 1000 % 1000, ".", kNumber % 1000);
}

std::string Hdf5Version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return Text(major, ".", minor, ".", release);
}

std::string LmdbVersion() {
  int major = 0, minor = 0, patch = 0;
  mdb_version(&major, &minor, &patch);
  return Text(major, ".", minor, ".", patch);
}

int Run(const std::vector<std::string>&) {
  std::cout << "moka " << kVersion << "\n";
  Table table("ll");
  table.Add({"  CUDA", CudaVersion()});
  table.Add({"  cuDNN", CudnnVersion()});
  table.Add({"  NCCL", NcclVersion()});
  table.Add({"  oneDNN", DnnlVersion()});
  table.Add({"  BLAS", BlasVersion()});
  table.Add({"  protobuf", ProtobufVersion()});
  table.Add({"  HDF5", Hdf5Version()});
  table.Add({"  LMDB", LmdbVersion()});
#ifdef MOKA_LEVELDB
  table.Add({"  LevelDB", "built in"});
#else
  table.Add({"  LevelDB", kNotBuilt});
#endif
  table.Add({"  OpenCV", CV_VERSION});
  table.Add({"  compiler", __VERSION__});
  std::cout << table.ToString();
  return 0;
}

const RegisterCommand kRegistration({"version",
                                     "shows moka's version, and those of the libraries in it",
                                     "moka version",
                                     "",
                                     {},
                                     0,
                                     Run});

}  // namespace
}  // namespace moka
