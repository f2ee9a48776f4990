// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions whose operand and result are f16 or bf16 tensors, computed in float: what the rounding to 16 bits
// hides need not be computed. Errors against the exact function are absolute and stated below
// (docs/numerics.md); half a unit of an f16 in [0.5, 1) is 2.4e-4.
#pragma once
#include "arch/approx.cuh"
#include "common/math.cuh"

namespace gpuc {

/// 1 / (1 + e^-x), error below 3e-7: two instructions of the special-function unit.
GPUC_DEVICE float logistic16(float x) { return arch::rcpApprox(1.0f + arch::ex2Approx(x * -1.44269504f)); }
GPUC_DEVICE float unary16_sigmoid(float x) { return logistic16(x); }
/// Error below 3e-7 |x|.
GPUC_DEVICE float unary16_silu(float x) { return x * logistic16(x); }
/// x/2 (1 + tanh(u)) = x logistic(2u); error below 1e-6 |x|.
GPUC_DEVICE float unary16_gelu_tanh(float x) {
  float u = x * (0.0713548162726f * x * x + 1.59576912161f);
  return x * logistic16(u);
}
/// x saturate(1/2 + x P(x^2)); error below 6.5e-5 |x| for |x| < 1.5, else below 2.3e-4. P is the polynomial of degree 6 that
/// has these bounds (linear programming), and saturates by itself from |x| = 3.86 on.
GPUC_DEVICE float unary16_gelu(float x) {
  float u = x * x, p = u * 3.31597825e-08f - 2.12397163e-06f;
  p = p * u + 5.83412184e-05f;
  p = p * u - 0.000914841832f;
  p = p * u + 0.009265678f;
  p = p * u - 0.065672487f;
  p = p * u + 0.39866963f;
  return x * arch::fmaSaturate(x, p, 0.5f);
}

} // namespace gpuc
