# What is on this machine, and what the build makes of it. Every variable set with ?= can be given in
# Makefile.config or on the command line; Makefile.config.example explains each.

ARCH ?= native
DEBUG ?=
SANITIZE ?=
WERROR ?=
ifeq ($(origin CXX),default)
  CXX := g++
endif

empty :=
space := $(empty) $(empty)
comma := ,

# $(call have_header,PATHS): 1 when one of the files is there.
have_header = $(if $(firstword $(wildcard $(1))),1)
# $(call option,SWITCH,FOUND): SWITCH as given (1 or 0), FOUND where it was not given; empty means no.
option = $(filter 1,$(if $($(1)),$($(1)),$(2)))
multiarch := $(shell $(lastword $(CXX)) -print-multiarch 2>/dev/null)

# --- optional libraries ---------------------------------------------------------------------------
CUDA_DIR ?= /usr/local/cuda
ifneq ($(SANITIZE),)
  CPU_ONLY := 1  # the sanitizers know nothing of device memory
endif
WITH_CUDA := $(if $(filter 1,$(CPU_ONLY)),,$(call have_header,$(CUDA_DIR)/bin/nvcc))
cuda_header = $(call have_header,$(CUDA_DIR)/include/$(1) /usr/include/$(1) /usr/include/$(multiarch)/$(1))
WITH_CUDNN := $(if $(WITH_CUDA),$(call option,USE_CUDNN,$(call cuda_header,cudnn.h)))
WITH_NCCL := $(if $(WITH_CUDA),$(call option,USE_NCCL,$(call cuda_header,nccl.h)))
WITH_DNNL := $(call option,USE_DNNL,$(call have_header,/usr/include/dnnl.h /usr/local/include/dnnl.h))
WITH_LEVELDB := $(call option,USE_LEVELDB,$(call have_header,/usr/include/leveldb/db.h))
MPICXX ?= mpicxx
WITH_MPI := $(call option,USE_MPI,$(if $(shell command -v $(MPICXX) 2>/dev/null),1))

# A folder named after one of these is compiled only where the library is, no_<name> only where not.
FEATURES := cuda cudnn nccl dnnl leveldb mpi
upper = $(shell echo $(1) | tr a-z A-Z)
ON := $(foreach f,$(FEATURES),$(if $(WITH_$(call upper,$(f))),$(f)))
OFF := $(filter-out $(ON),$(FEATURES))

# --- required libraries ---------------------------------------------------------------------------
OPENCV_INCLUDE ?= $(firstword $(wildcard /usr/include/opencv4 /usr/local/include/opencv4))
HDF5_INCLUDE ?= $(firstword $(wildcard /usr/include/hdf5/serial /usr/include/$(multiarch)/hdf5/serial))
HDF5_LIB ?= $(patsubst /usr/include/hdf5/serial,/usr/lib/$(multiarch)/hdf5/serial,$(HDF5_INCLUDE))
BLAS_INCLUDE ?= $(firstword $(wildcard /usr/include/$(multiarch)/openblas-openmp \
                  /usr/include/$(multiarch)/openblas-pthread /usr/include/openblas))
BLAS_LIB ?= $(wildcard $(patsubst /usr/include/%,/usr/lib/%,$(BLAS_INCLUDE)))
BLAS ?= openblas

# header, and the Debian package that brings it
REQUIRED := \
  /usr/include/google/protobuf/message.h:libprotobuf-dev \
  /usr/bin/protoc:protobuf-compiler \
  /usr/include/glog/logging.h:libgoogle-glog-dev \
  /usr/include/gflags/gflags.h:libgflags-dev \
  /usr/include/lmdb.h:liblmdb-dev \
  /usr/include/zlib.h:zlib1g-dev \
  /usr/include/nlohmann/json.hpp:nlohmann-json3-dev \
  $(or $(OPENCV_INCLUDE),/usr/include/opencv4)/opencv2/core.hpp:libopencv-core-dev \
  $(or $(OPENCV_INCLUDE),/usr/include/opencv4)/opencv2/imgproc.hpp:libopencv-imgproc-dev \
  $(or $(OPENCV_INCLUDE),/usr/include/opencv4)/opencv2/imgcodecs.hpp:libopencv-imgcodecs-dev \
  $(or $(BLAS_INCLUDE),/usr/include/openblas)/cblas.h:libopenblas-openmp-dev \
  $(or $(HDF5_INCLUDE),/usr/include/hdf5/serial)/hdf5.h:libhdf5-dev
MISSING := $(foreach r,$(REQUIRED),$(if $(wildcard $(firstword $(subst :, ,$(r)))),,\
             $(lastword $(subst :, ,$(r)))))

# --- flags ----------------------------------------------------------------------------------------
PROTOC ?= protoc
INCLUDES := -Iinclude -Isrc -I$(BUILD_DIR)/gen \
            $(addprefix -isystem ,$(OPENCV_INCLUDE) $(HDF5_INCLUDE) $(BLAS_INCLUDE))
DEFINES := $(addprefix -DMOKA_,$(foreach f,$(ON),$(call upper,$(f))))
WARNINGS := -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror)
OPTIMIZE := $(if $(DEBUG),-O0 -g,$(if $(SANITIZE),-O1 -g -fno-omit-frame-pointer,-O3))
HOST_FLAGS := $(OPTIMIZE) $(if $(ARCH),-march=$(ARCH)) -fopenmp -fno-math-errno -fno-trapping-math \
              -fPIC $(WARNINGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE))
ALL_CXXFLAGS = -std=c++17 $(HOST_FLAGS) -Wpedantic $(DEFINES) $(INCLUDES) $(CPPFLAGS) $(CXXFLAGS)

LIBRARIES := $(addprefix -L,$(HDF5_LIB) $(BLAS_LIB)) \
  -lprotobuf -lglog -lgflags -llmdb -lopencv_imgcodecs -lopencv_imgproc -lopencv_core \
  -l$(BLAS) -lhdf5 -lz $(if $(WITH_LEVELDB),-lleveldb) $(if $(WITH_DNNL),-ldnnl) -ldl -lpthread
ALL_LDFLAGS := -fopenmp $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,--as-needed $(LDFLAGS)

ifneq ($(WITH_MPI),)
  INCLUDES += $(patsubst -I%,-isystem %,$(filter -I%,$(shell $(MPICXX) -show 2>/dev/null)))
  LIBRARIES += $(filter -L% -l%,$(shell $(MPICXX) -show 2>/dev/null))
endif

# --- CUDA -----------------------------------------------------------------------------------------
ifneq ($(WITH_CUDA),)
  NVCC := $(if $(findstring ccache,$(CXX)),ccache) $(CUDA_DIR)/bin/nvcc
  CUDA_KNOWN := $(patsubst sm_%,%,$(shell $(CUDA_DIR)/bin/nvcc --list-gpu-code 2>/dev/null))
  CUDA_ARCH ?= $(filter $(CUDA_KNOWN),75 80 86 89 90 100 120)
  CUDA_NEWEST := $(lastword $(CUDA_ARCH))
  GENCODE := $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$(a)$(comma)code=sm_$(a)) \
             -gencode arch=compute_$(CUDA_NEWEST)$(comma)code=compute_$(CUDA_NEWEST)
  INCLUDES += -isystem $(CUDA_DIR)/include
  ALL_NVCCFLAGS = -x cu -std=c++17 $(if $(DEBUG),-O0 -g -lineinfo,-O3) --expt-relaxed-constexpr \
    $(GENCODE) $(if $(word 2,$(CUDA_ARCH)),--threads 0) \
    -ccbin $(lastword $(CXX)) -Xcompiler $(subst $(space),$(comma),$(strip $(HOST_FLAGS))) \
    $(if $(filter 1,$(WERROR)),-Werror all-warnings) \
    $(DEFINES) $(INCLUDES) $(CPPFLAGS) $(NVCCFLAGS)
  # The runtime starts without a driver and is small: it goes beside the library. The others are
  # loaded when first used (on x86-64), so that neither start nor build time depends on them.
  CUDA_LIBRARY := $(firstword $(wildcard $(CUDA_DIR)/lib64 $(CUDA_DIR)/lib))
  CUDART := $(lastword $(sort $(wildcard $(CUDA_LIBRARY)/libcudart.so.[0-9] $(CUDA_LIBRARY)/libcudart.so.[0-9][0-9])))
  LIBRARIES += $(CUDART)
  CUDA_NAMES := cublas cublasLt $(if $(WITH_CUDNN),cudnn) $(if $(WITH_NCCL),nccl)
  ifeq ($(firstword $(subst -, ,$(multiarch))),x86_64)
    LAZY := $(foreach n,$(CUDA_NAMES),$(firstword $(wildcard $(CUDA_LIBRARY)/lib$(n).so /usr/lib/$(multiarch)/lib$(n).so)))
  else
    LIBRARIES += -L$(CUDA_LIBRARY) $(addprefix -l,$(CUDA_NAMES))
  endif
  ALL_LDFLAGS += -Wl,-rpath,$(CUDA_LIBRARY)
endif
