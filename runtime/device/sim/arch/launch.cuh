// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/launch.cuh.
#pragma once
#include "common/ints.cuh"

#define GPUC_DEVICE inline __attribute__((always_inline))
#define GPUC_SMEM(Struct, name)                                                                              \
  if (sizeof(Struct) > ::gpucsim::selfBlock()->sharedBytes)                                                  \
    ::gpucsim::api->trap("the launch gives fewer bytes of shared memory than " #Struct " needs");            \
  Struct &name = *reinterpret_cast<Struct *>(::gpucsim::selfBlock()->shared)
#define GPUC_EXPORT(name)                                                                                    \
  GPUC_SIM_VISIBLE void name##__sim(void **args) {                                                           \
    ::gpucsim::Entry<decltype(name)>::template run<name>(args);                                              \
  }

// A default argument that is the caller's line: it identifies the call site.
#define GPUC_SIM_SITE unsigned line = __builtin_LINE()
