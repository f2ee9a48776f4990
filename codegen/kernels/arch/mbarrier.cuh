// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier (sm_90): a 64-bit object in shared memory, 8-byte aligned, given by its shared address. A phase ends when
// all its arrivals have come and as many bytes have been transferred as were expected; phases have parity 0, 1, 0, …
#pragma once
#include "arch/cp_async.cuh"

namespace gpuc::arch {

/// mbarrier.init: `arrivals` per phase. One thread initialises; the others may use it after mbarrierInitFence there and a
/// barrier of the block (of the cluster, if remote blocks use it).
GPUC_DEVICE void mbarrierInit(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// fence.mbarrier_init: initialisations are seen by the cluster and by bulk copies.
GPUC_DEVICE void mbarrierInitFence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
/// mbarrier.arrive: one arrival.
GPUC_DEVICE void mbarrierArrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// mbarrier.arrive.expect_tx: one arrival, and the phase waits for `bytes` more bytes of copies.
GPUC_DEVICE void mbarrierArriveExpectTx(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// One arrival at the barrier at the same address in block `rank` of the cluster. Unordered: it publishes no writes (the
/// ordered form is a fence of the whole device); right where the tensor core has read what the other block will overwrite.
GPUC_DEVICE void mbarrierArriveRemote(u32 barrier, u32 rank) {
  asm volatile("{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
               " mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
               "r"(rank)
               : "memory");
}
/// mbarrier.try_wait.parity in a loop: returns once the phase of this parity has ended. A wait may look one phase ahead
/// only. There is no trap: one that can be reached makes ptxas ignore setmaxnreg.
GPUC_DEVICE void mbarrierWait(u32 barrier, u32 parity) {
  u32 done;
  do {
    asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  } while (!done);
}

} // namespace gpuc::arch
