// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix (sm_75): 8x8 matrices of 16-bit elements from shared memory into mma fragments.
// Lane l gives the address (a multiple of 16) of row l%8 of matrix l/8; x1 uses lanes 0-7, x2 lanes 0-15.
// Lane l receives of matrix m, in r[m], elements (l/4, 2*(l%4)) and (l/4, 2*(l%4)+1), low half first;
// with .trans elements (2*(l%4), l/4) and (2*(l%4)+1, l/4).
#pragma once
#include "arch/cp_async.cuh"

namespace gpuc::arch {

GPUC_DEVICE void ldmatrixX4(u32 (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}
GPUC_DEVICE void ldmatrixX4Trans(u32 (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}
GPUC_DEVICE void ldmatrixX2(u32 (&r)[2], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(sharedAddress(row))
               : "memory");
}
GPUC_DEVICE void ldmatrixX2Trans(u32 (&r)[2], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(sharedAddress(row))
               : "memory");
}
GPUC_DEVICE void ldmatrixX1(u32 (&r)[1], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(sharedAddress(row))
               : "memory");
}
GPUC_DEVICE void ldmatrixX1Trans(u32 (&r)[1], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(sharedAddress(row))
               : "memory");
}

// The row's address in the shared window (sharedAddress).
GPUC_DEVICE void ldmatrixX4(u32 (&r)[4], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}
GPUC_DEVICE void ldmatrixX4Trans(u32 (&r)[4], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
}

} // namespace gpuc::arch
