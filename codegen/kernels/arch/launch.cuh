// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions, shared memory and entries are declared. threadIdx, blockIdx, blockDim and gridDim are used
// as such. An entry is `extern "C" __global__ void __launch_bounds__(N) name(...)`, followed by
// `GPUC_EXPORT(name)`.
#pragma once
#include "common/ints.cuh"

/// Every function that a kernel calls.
#define GPUC_DEVICE __device__ __forceinline__

/// Declares `Struct &name`: the block's dynamic shared memory (1024-byte aligned, uninitialised).
/// At most one struct per kernel; the launch passes sizeof(Struct).
#define GPUC_SMEM(Struct, name)                                                                              \
  extern __shared__ __align__(1024) unsigned char gpucSharedBytes[];                                         \
  Struct &name = *reinterpret_cast<Struct *>(gpucSharedBytes)

/// Makes an entry known to the simulator.
#define GPUC_EXPORT(name)
