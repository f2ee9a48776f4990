// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync of sm_80: D += A B with A row-major (M x K), B column-major (K x N), one instruction per function,
// and mmaTile for MI x NI of them (one rendezvous in the simulator: prefer it). Fragments, g = lane/4, t =
// lane%4; "pair" means two 16-bit elements, low half first; "quad" four bytes.
//   16-bit  A: a0 = pair (g, 2t), a1 = (g+8, 2t), a2 = (g, 2t+8), a3 = (g+8, 2t+8);  B: b0 = pair (k=2t,
//   n=g), b1 = (2t+8, g) tf32    A: a0 = (g, t), a1 = (g+8, t), a2 = (g, t+4), a3 = (g+8, t+4);            B:
//   b0 = (k=t, n=g), b1 = (t+4, g) 8-bit   A: a0 = quad (g, 4t), a1 = (g+8, 4t), a2 = (g, 4t+16), a3 = (g+8,
//   4t+16); B: b0 = quad (k=4t, n=g), b1 = (4t+16, g) D 32-bit: d0 = (g, 2t), d1 = (g, 2t+1), d2 = (g+8, 2t),
//   d3 = (g+8, 2t+1);  D f16: d0 = pair (g, 2t), d1 = pair (g+8, 2t)
#pragma once
#include "arch/convert.cuh"

namespace gpuc::arch {

/// f16 operands, float accumulators.
GPUC_DEVICE void mmaM16N8K16F16F32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// bf16 operands, float accumulators.
GPUC_DEVICE void mmaM16N8K16Bf16F32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// tf32 operands (cvtRnaTf32), float accumulators.
GPUC_DEVICE void mmaM16N8K8Tf32F32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// f16 operands and accumulators.
GPUC_DEVICE void mmaM16N8K16F16F16(u32 (&d)[2], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// s8 A, s8 B, i32 accumulators that wrap.
GPUC_DEVICE void mmaM16N8K32S8S8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// s8 A, u8 B, i32 accumulators that wrap.
GPUC_DEVICE void mmaM16N8K32S8U8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// u8 A, s8 B, i32 accumulators that wrap.
GPUC_DEVICE void mmaM16N8K32U8S8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// u8 A, u8 B, i32 accumulators that wrap.
GPUC_DEVICE void mmaM16N8K32U8U8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One kind per instruction: what a tile template needs to know of it. A always has 4 registers, B 2.
struct MmaF16F32 {
  using Acc = float;
  static constexpr int kM = 16, kN = 8, kK = 16, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K16F16F32(d, a, b);
  }
};
struct MmaBf16F32 {
  using Acc = float;
  static constexpr int kM = 16, kN = 8, kK = 16, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K16Bf16F32(d, a, b);
  }
};
struct MmaTf32F32 {
  using Acc = float;
  static constexpr int kM = 16, kN = 8, kK = 8, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K8Tf32F32(d, a, b);
  }
};
struct MmaF16F16 {
  using Acc = u32;
  static constexpr int kM = 16, kN = 8, kK = 16, kAccRegs = 2;
  GPUC_DEVICE static void mma(Acc (&d)[2], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K16F16F16(d, a, b);
  }
};
struct MmaS8S8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K32S8S8S32(d, a, b);
  }
};
struct MmaS8U8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K32S8U8S32(d, a, b);
  }
};
struct MmaU8S8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K32U8S8S32(d, a, b);
  }
};
struct MmaU8U8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mmaM16N8K32U8U8S32(d, a, b);
  }
};

/// d[i][j] += a[i] b[j]: a (16 MI) x (8 NI) tile of one warp.
template <typename Kind, int MI, int NI>
GPUC_DEVICE void mmaTile(typename Kind::Acc (&d)[MI][NI][Kind::kAccRegs], const u32 (&a)[MI][4],
                         const u32 (&b)[NI][2]) {
#pragma unroll
  for (int i = 0; i < MI; ++i)
#pragma unroll
    for (int j = 0; j < NI; ++j)
      Kind::mma(d[i][j], a[i], b[j]);
}

} // namespace gpuc::arch
