// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thread block clusters (sm_90): consecutive blocks along x that run at once and reach each other's shared memory.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// %cluster_ctarank: this block's number in its cluster.
GPUC_DEVICE u32 clusterRank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// barrier.cluster.arrive.relaxed: every thread of the cluster arrives; it publishes no writes (after mbarrierInitFence none
/// are needed; the releasing form costs a fence of the device).
GPUC_DEVICE void clusterArrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
/// barrier.cluster.arrive.release: writes before it are seen after the others' wait.
GPUC_DEVICE void clusterArriveRelease() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
/// barrier.cluster.wait.acquire: until all have arrived. It empties the L1 cache: wait before loading through it.
GPUC_DEVICE void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/// mapa: the cluster-wide address of this block's shared address `local` in block `rank`.
GPUC_DEVICE u32 clusterMap(u32 local, u32 rank) {
  u32 remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
  return remote;
}
/// st.async of 16 bytes to a cluster-wide address; counts 16 bytes at the barrier `remoteBarrier` of the same block.
GPUC_DEVICE void stAsyncF32x4(u32 remote, float x, float y, float z, float w, u32 remoteBarrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(remote),
               "f"(x), "f"(y), "f"(z), "f"(w), "r"(remoteBarrier)
               : "memory");
}

} // namespace gpuc::arch
