// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between float and the 16-bit float formats (given as bits), and bit casts.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// The bits of `from` as a To of the same size.
template <typename To, typename From> GPUC_DEVICE To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "bitCast needs types of one size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

/// cvt.f32.f16: exact.
GPUC_DEVICE float cvtF32F16(u16 bits) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
  return f;
}
/// cvt.rn.f16.f32: round to nearest even.
GPUC_DEVICE u16 cvtF16F32(float f) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f));
  return bits;
}
/// bf16 to float: exact.
GPUC_DEVICE float cvtF32Bf16(u16 bits) { return bitCast<float>(u32(bits) << 16); }
/// cvt.rn.bf16.f32: round to nearest even.
GPUC_DEVICE u16 cvtBf16F32(float f) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(f));
  return bits;
}
/// cvt.rn.f16x2.f32: `lo` goes to the low half.
GPUC_DEVICE u32 cvtF16x2F32(float lo, float hi) {
  u32 bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(hi), "f"(lo));
  return bits;
}
/// cvt.rn.bf16x2.f32: `lo` goes to the low half.
GPUC_DEVICE u32 cvtBf16x2F32(float lo, float hi) {
  u32 bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(hi), "f"(lo));
  return bits;
}
/// cvt.rna.tf32.f32: nearest, ties away from zero; the operand format of the tf32 mma.
GPUC_DEVICE u32 cvtRnaTf32(float f) {
  u32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(f));
  return bits;
}

} // namespace gpuc::arch
