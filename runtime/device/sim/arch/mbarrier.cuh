// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/mbarrier.cuh.
#pragma once
#include "arch/cp_async.cuh"

namespace gpuc::arch {

GPUC_DEVICE void mbarrierInit(u32 barrier, u32 arrivals) { ::gpucsim::api->mbarrierInit(barrier, arrivals); }
GPUC_DEVICE void mbarrierInitFence() {}
GPUC_DEVICE void mbarrierArrive(u32 barrier) { ::gpucsim::api->mbarrierArrive(barrier, 0, 0); }
GPUC_DEVICE void mbarrierArriveExpectTx(u32 barrier, u32 bytes) {
  ::gpucsim::api->mbarrierArrive(barrier, bytes, 0);
}
GPUC_DEVICE void mbarrierArriveRemote(u32 barrier, u32 rank) {
  ::gpucsim::api->mbarrierArrive(barrier, 0, rank + 1);
}
GPUC_DEVICE void mbarrierWait(u32 barrier, u32 parity, GPUC_SIM_SITE) {
  ::gpucsim::api->mbarrierWait(barrier, parity, line);
}

} // namespace gpuc::arch
