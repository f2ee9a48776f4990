// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/registers.cuh: registers are not limited.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

template <int N> GPUC_DEVICE void registersIncrease() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "a register count is a multiple of 8 in 24 ... 256");
}
template <int N> GPUC_DEVICE void registersDecrease() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "a register count is a multiple of 8 in 24 ... 256");
}

} // namespace gpuc::arch
