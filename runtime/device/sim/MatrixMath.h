// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of simulated mma instructions on plain row-major matrices. Compiled for AVX2, FMA and F16C.
#pragma once
#include <cstdint>

namespace gpuc::sim {

/// c += a b; a is (m, k), b (k, n), c (m, n), dense; m a multiple of 4, n of 8.
void multiplyAdd(float *c, const float *a, const float *b, int m, int n, int k);
/// As above on integers; wraps.
void multiplyAdd(int32_t *c, const int32_t *a, const int32_t *b, int m, int n, int k);
/// Widens `count` (a multiple of 8) f16 to float.
void widenF16(float *to, const uint16_t *from, int count);
void widenBf16(float *to, const uint16_t *from, int count);
float widenF16(uint16_t bits);
/// Rounds to nearest even.
uint16_t narrowF16(float f);

} // namespace gpuc::sim
