// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of NVIDIA's driver that gpuc uses, as one table filled with dlsym. Own declarations after
// cuda.h (CUDA driver API, version 12), so that no CUDA header is needed to build.
#pragma once
#include "gpuc/Support/Status.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuc::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_NOT_FOUND = 500,
};
enum : int { // CUdevice_attribute
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};
enum : int { // CUfunction_attribute
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};
enum : unsigned { CU_STREAM_NON_BLOCKING = 1 };
enum : int { CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum : int { // CUlaunchAttributeID
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};
enum : int { // CUtensorMapDataType
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
  CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
  CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
  CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
  CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
};
enum : int { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum : int { CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2 };
enum : int { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 };

/// Encoded by the driver; 64-byte aligned.
struct alignas(64) CUtensorMap {
  uint64_t opaque[16];
};

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72, "layout of cuda.h");

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};
static_assert(offsetof(CUlaunchConfig, attrs) == 40 && sizeof(CUlaunchConfig) == 56, "layout of cuda.h");

/// X(field, "symbol", parameters). A symbol's suffix is the version whose parameters are declared here.
// clang-format off
#define GPUC_CUDA_FUNCTIONS(X)                                                                         \
  X(init, "cuInit", (unsigned))                                                                        \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                                                   \
  X(getErrorName, "cuGetErrorName", (CUresult, const char **))                                         \
  X(getErrorString, "cuGetErrorString", (CUresult, const char **))                                     \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                                                       \
  X(deviceGet, "cuDeviceGet", (CUdevice *, int))                                                       \
  X(deviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                         \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))                                       \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                                \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                             \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                     \
  X(ctxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                                   \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                                \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                                \
  X(memGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                               \
  X(memAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                                \
  X(memFree, "cuMemFree_v2", (CUdeviceptr))                                                            \
  X(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void *, size_t, CUstream))            \
  X(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *, CUdeviceptr, size_t, CUstream))                  \
  X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CUdeviceptr, CUdeviceptr, size_t, CUstream))             \
  X(memsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                  \
  X(moduleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                                    \
  X(moduleUnload, "cuModuleUnload", (CUmodule))                                                        \
  X(moduleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))                  \
  X(funcGetAttribute, "cuFuncGetAttribute", (int *, int, CUfunction))                                  \
  X(funcSetAttribute, "cuFuncSetAttribute", (CUfunction, int, int))                                    \
  X(launchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig *, CUfunction, void **, void **))        \
  X(streamCreate, "cuStreamCreate", (CUstream *, unsigned))                                            \
  X(streamDestroy, "cuStreamDestroy_v2", (CUstream))                                                   \
  X(streamSynchronize, "cuStreamSynchronize", (CUstream))                                              \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, int))                                    \
  X(streamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph *))                                     \
  X(graphInstantiate, "cuGraphInstantiateWithFlags", (CUgraphExec *, CUgraph, unsigned long long))     \
  X(graphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream))                                             \
  X(graphDestroy, "cuGraphDestroy", (CUgraph))                                                         \
  X(graphExecDestroy, "cuGraphExecDestroy", (CUgraphExec))                                             \
  X(eventCreate, "cuEventCreate", (CUevent *, unsigned))                                               \
  X(eventDestroy, "cuEventDestroy_v2", (CUevent))                                                      \
  X(eventRecord, "cuEventRecord", (CUevent, CUstream))                                                 \
  X(eventSynchronize, "cuEventSynchronize", (CUevent))                                                 \
  X(eventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))
/// What drivers before CUDA 12 lack; a member is null where the driver does not have the function.
#define GPUC_CUDA_OPTIONAL_FUNCTIONS(X)                                                                \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                    \
    (CUtensorMap *, int type, uint32_t rank, void *, const uint64_t *dims, const uint64_t *strides,    \
     const uint32_t *box, const uint32_t *elementStrides, int interleave, int swizzle, int promotion,  \
     int fill))                                                                                        \
  X(tensorMapEncodeIm2col, "cuTensorMapEncodeIm2col",                                                  \
    (CUtensorMap *, int type, uint32_t rank, void *, const uint64_t *dims, const uint64_t *strides,    \
     const int *lower, const int *upper, uint32_t channels, uint32_t pixels,                           \
     const uint32_t *elementStrides, int interleave, int swizzle, int promotion, int fill))
// clang-format on

struct Driver {
#define GPUC_DECLARE(field, symbol, parameters) CUresult(*field) parameters = nullptr;
  GPUC_CUDA_FUNCTIONS(GPUC_DECLARE)
  GPUC_CUDA_OPTIONAL_FUNCTIONS(GPUC_DECLARE)
#undef GPUC_DECLARE
  int version = 0; ///< of CUDA, as the driver reports it: 13000 is 13.0

  /// The initialised driver of this machine; opened once. Errors: NotFound, saying what is missing.
  static Result<const Driver *> get();
  /// Success, or a Status "<what>: <name>: <explanation>".
  Status check(CUresult result, const std::string &what) const;
};

/// "13.0" for 13000.
std::string versionText(int version);

} // namespace gpuc::cuda
