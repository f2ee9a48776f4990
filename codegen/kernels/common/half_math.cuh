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
/// x saturate(1/2 + x P(x^2)) with a polynomial P fitted on |x| < 4.4; error below 4.1e-5.
GPUC_DEVICE float unary16_gelu(float x) {
  float square = x * x, u = square < 19.36f ? square : 19.36f;
  float p = u * 3.60426376e-11f - 3.78211107e-09f;
  p = p * u + 1.75019835e-07f;
  p = p * u - 4.74151966e-06f;
  p = p * u + 8.4463798e-05f;
  p = p * u - 0.00105600455f;
  p = p * u + 0.00964631233f;
  p = p * u - 0.0660815164f;
  p = p * u + 0.398764253f;
  return x * arch::fmaSaturate(x, p, 0.5f);
}

} // namespace gpuc
