// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the blocks of a cluster send each other means and hidden values (squeeze_excite.cuh). sm_90 and later.
#pragma once
#include "arch/cluster.cuh"
#include "arch/mbarrier.cuh"

namespace gpuc {

template <typename Config> struct ClusterExchange {
  GPUC_DEVICE static i32 rank() { return i32(arch::clusterRank()); }
  GPUC_DEVICE static void prepare(u64 *barriers) {
    if (threadIdx.x == 0) {
      arch::mbarrierInit(arch::sharedAddress(&barriers[0]), 1);
      arch::mbarrierInit(arch::sharedAddress(&barriers[1]), 1);
      arch::mbarrierInitFence();
      arch::mbarrierArriveExpectTx(arch::sharedAddress(&barriers[0]), u32(Config::kRanks * Config::kSlice) * 4);
      arch::mbarrierArriveExpectTx(arch::sharedAddress(&barriers[1]), u32(Config::kRanks * Config::kHiddenSlice) * 4);
    }
    arch::clusterArrive();
  }
  /// Nobody sends before all have initialised their barriers.
  GPUC_DEVICE static void ready() { arch::clusterWait(); }
  GPUC_DEVICE static void send(float *to, const float (&values)[4], int receiver, u64 *barrier) {
    arch::stAsyncF32x4(arch::clusterMap(arch::sharedAddress(to), u32(receiver)), values[0], values[1], values[2], values[3],
                       arch::clusterMap(arch::sharedAddress(barrier), u32(receiver)));
  }
  GPUC_DEVICE static void received(u64 *barrier) { arch::mbarrierWait(arch::sharedAddress(barrier), 0); }
};

} // namespace gpuc
