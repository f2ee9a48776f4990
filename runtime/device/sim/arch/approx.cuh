// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/approx.cuh.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE float ex2Approx(float x) {
  float y = __builtin_exp2f(x);
  return y < 0x1p-126f ? 0.0f : y;
}
GPUC_DEVICE float maxNumber(float a, float b) { return a > b || b != b ? a : b; }

} // namespace gpuc::arch
