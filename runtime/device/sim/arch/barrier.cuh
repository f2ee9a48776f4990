// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/barrier.cuh.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE void syncThreads(GPUC_SIM_SITE) { ::gpucsim::api->barrier(0, 0, line); }
GPUC_DEVICE void syncWarp(GPUC_SIM_SITE) { ::gpucsim::api->syncWarp(line); }
GPUC_DEVICE void barSync(u32 id, u32 threads, GPUC_SIM_SITE) { ::gpucsim::api->barrier(id, threads, line); }
GPUC_DEVICE void barArrive(u32 id, u32 threads, GPUC_SIM_SITE) {
  ::gpucsim::api->barrierArrive(id, threads, line);
}
GPUC_DEVICE void threadFence() { __sync_synchronize(); }

} // namespace gpuc::arch
