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

GPUC_DEVICE float rcpApprox(float x) { return 1.0f / x; }
GPUC_DEVICE float fmaSaturate(float a, float b, float c) {
  float y = __builtin_fmaf(a, b, c);
  return y > 0.0f ? (y < 1.0f ? y : 1.0f) : 0.0f;
}
GPUC_DEVICE float maxOrNan(float a, float b) { return a != a || b != b ? __builtin_nanf("") : a > b ? a : b; }

} // namespace gpuc::arch
