// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/cp_async.cuh: a copy happens when it is waited for.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE u32 sharedAddress(const void *p) { return ::gpucsim::api->sharedAddress(p); }
GPUC_DEVICE void cpAsync16(void *shared, const void *global, u32 srcBytes = 16) {
  ::gpucsim::api->cpAsync(shared, global, 16, srcBytes);
}
GPUC_DEVICE void cpAsync8(void *shared, const void *global, u32 srcBytes = 8) {
  ::gpucsim::api->cpAsync(shared, global, 8, srcBytes);
}
GPUC_DEVICE void cpAsync4(void *shared, const void *global, u32 srcBytes = 4) {
  ::gpucsim::api->cpAsync(shared, global, 4, srcBytes);
}
GPUC_DEVICE void cpAsyncCommit() { ::gpucsim::api->cpAsyncCommit(); }
template <int N> GPUC_DEVICE void cpAsyncWait() { ::gpucsim::api->cpAsyncWait(N); }

} // namespace gpuc::arch
