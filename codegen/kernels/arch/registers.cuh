// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setmaxnreg (sm_90a): moves registers between warpgroups of a block. All warps of a warpgroup execute it once, N a multiple
// of 8 in 24 … 256; the kernel has a fixed number of threads (__launch_bounds__ with a minimum of one block).
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// setmaxnreg.inc: waits until N registers per thread are free.
template <int N> GPUC_DEVICE void registersIncrease() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "a register count is a multiple of 8 in 24 ... 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
/// setmaxnreg.dec: gives back registers above N.
template <int N> GPUC_DEVICE void registersDecrease() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "a register count is a multiple of 8 in 24 ... 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

} // namespace gpuc::arch
