// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/cluster.cuh.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE u32 clusterRank() { return ::gpucsim::api->clusterRank(); }
GPUC_DEVICE void clusterArrive() { ::gpucsim::api->clusterArrive(); }
GPUC_DEVICE void clusterArriveRelease() { ::gpucsim::api->clusterArrive(); }
GPUC_DEVICE void clusterWait(GPUC_SIM_SITE) { ::gpucsim::api->clusterWait(line); }
GPUC_DEVICE u32 clusterMap(u32 local, u32 rank) { return ::gpucsim::api->clusterMap(local, rank); }
GPUC_DEVICE void stAsyncF32x4(u32 remote, float x, float y, float z, float w, u32 remoteBarrier) {
  const float values[4] = {x, y, z, w};
  ::gpucsim::api->stAsync(remote, values, remoteBarrier);
}

} // namespace gpuc::arch
