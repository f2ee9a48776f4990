// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/convert.cuh.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

template <typename To, typename From> GPUC_DEVICE To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "bitCast needs types of one size");
  return __builtin_bit_cast(To, from);
}
#ifdef __clang__
GPUC_DEVICE float cvtF32F16(u16 bits) { return float(__builtin_bit_cast(_Float16, bits)); }
GPUC_DEVICE u16 cvtF16F32(float f) { return __builtin_bit_cast(u16, _Float16(f)); }
#else // g++ would take the value through memory
using SimFloat4 = float __attribute__((vector_size(16)));
using SimShort8 = short __attribute__((vector_size(16)));
GPUC_DEVICE float cvtF32F16(u16 bits) { return __builtin_ia32_vcvtph2ps(SimShort8{i16(bits)})[0]; }
GPUC_DEVICE u16 cvtF16F32(float f) { return u16(__builtin_ia32_vcvtps2ph(SimFloat4{f}, 0)[0]); }
#endif
GPUC_DEVICE float cvtF32Bf16(u16 bits) { return bitCast<float>(u32(bits) << 16); }
GPUC_DEVICE u16 cvtBf16F32(float f) {
  u32 bits = bitCast<u32>(f);
  return f != f ? u16(0x7fff) : u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
GPUC_DEVICE u32 cvtF16x2F32(float lo, float hi) { return cvtF16F32(lo) | u32(cvtF16F32(hi)) << 16; }
GPUC_DEVICE u32 cvtBf16x2F32(float lo, float hi) { return cvtBf16F32(lo) | u32(cvtBf16F32(hi)) << 16; }
GPUC_DEVICE u32 cvtRnaTf32(float f) {
  u32 bits = bitCast<u32>(f);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
}

} // namespace gpuc::arch
