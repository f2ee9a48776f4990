// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of a block and of a warp. Rules that the simulator checks: every thread of the block (or the
// stated count) arrives, at the same source line; no thread has returned before.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// bar.sync 0 of all threads of the block; orders shared and global memory within it.
GPUC_DEVICE void syncThreads() { __syncthreads(); }
/// bar.warp.sync of all 32 lanes.
GPUC_DEVICE void syncWarp() { __syncwarp(); }
/// bar.sync id, threads: waits for `threads` (a multiple of 32) threads; `id` 1..15.
GPUC_DEVICE void barSync(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// bar.arrive id, threads: arrives without waiting.
GPUC_DEVICE void barArrive(u32 id, u32 threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// membar.gl: writes before it are seen by the device before writes after it.
GPUC_DEVICE void threadFence() { __threadfence(); }

} // namespace gpuc::arch
