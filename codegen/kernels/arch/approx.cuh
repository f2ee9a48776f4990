// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single instructions of float arithmetic that C++ has no exact name for.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// ex2.approx.ftz.f32: 2^x within 2 units in the last place; results below 2^-126 are 0, 2^-inf is 0, NaN
/// passes.
GPUC_DEVICE float ex2Approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// max.f32: of a number and a NaN, the number.
GPUC_DEVICE float maxNumber(float a, float b) {
  float y;
  asm("max.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

/// rcp.approx.ftz.f32: 1/x within one unit in the last place; 1/inf is 0.
GPUC_DEVICE float rcpApprox(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// fma.rn.sat.f32: a*b + c, clamped to [0, 1]; NaN gives 0.
GPUC_DEVICE float fmaSaturate(float a, float b, float c) {
  float y;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c));
  return y;
}
/// max.NaN.f32: NaN when one is.
GPUC_DEVICE float maxOrNan(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

} // namespace gpuc::arch
