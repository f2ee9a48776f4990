// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stmatrix (sm_90): 8x8 matrices of 16-bit elements from registers to shared memory, the inverse of ldmatrix. Lane l gives
// the shared address (a multiple of 16) of row l%8 of matrix l/8; of matrix m it holds in r[m] elements (l/4, 2*(l%4)) and
// (l/4, 2*(l%4)+1), low half first; with .trans elements (2*(l%4), l/4) and (2*(l%4)+1, l/4). All 32 lanes take part.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE void stmatrixX4(u32 row, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(r0), "r"(r1), "r"(r2),
               "r"(r3)
               : "memory");
}
GPUC_DEVICE void stmatrixX4Trans(u32 row, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(r0), "r"(r1),
               "r"(r2), "r"(r3)
               : "memory");
}
/// Lanes 0-15 give addresses.
GPUC_DEVICE void stmatrixX2(u32 row, u32 r0, u32 r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(row), "r"(r0), "r"(r1) : "memory");
}
GPUC_DEVICE void stmatrixX2Trans(u32 row, u32 r0, u32 r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::"r"(row), "r"(r0), "r"(r1) : "memory");
}

} // namespace gpuc::arch
