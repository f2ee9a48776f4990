// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async (sm_80): asynchronous copies from global to shared memory. The destination may be read after
// cpAsyncWait and a barrier. Both addresses must be multiples of the size.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// The 32-bit address of `p` in the shared window.
GPUC_DEVICE u32 sharedAddress(const void *p) { return u32(__cvta_generic_to_shared(p)); }

/// cp.async.cg 16: copies `srcBytes` (0..16) bytes and fills the rest of the 16 with zeros. With srcBytes ==
/// 0 nothing is read, but `global` must still be a valid address.
GPUC_DEVICE void cpAsync16(void *shared, const void *global, u32 srcBytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(shared)), "l"(global),
               "r"(srcBytes)
               : "memory");
}
/// cp.async.ca 8, as cpAsync16.
GPUC_DEVICE void cpAsync8(void *shared, const void *global, u32 srcBytes = 8) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(sharedAddress(shared)), "l"(global),
               "r"(srcBytes)
               : "memory");
}
/// cp.async.ca 4, as cpAsync16.
GPUC_DEVICE void cpAsync4(void *shared, const void *global, u32 srcBytes = 4) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(sharedAddress(shared)), "l"(global),
               "r"(srcBytes)
               : "memory");
}
/// cp.async.commit_group: closes this thread's group (it may be empty).
GPUC_DEVICE void cpAsyncCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// cp.async.wait_group: waits until at most N of this thread's newest groups are in flight.
template <int N> GPUC_DEVICE void cpAsyncWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

} // namespace gpuc::arch
