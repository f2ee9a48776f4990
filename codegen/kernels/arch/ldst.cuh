// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of 16, 8, 4, 2 and 1 bytes. The address must be a multiple of the size. ldNc* go through
// the read-only path: only for memory that nobody writes while the kernel runs.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

struct alignas(16) B16 {
  u32 x, y, z, w;
};
struct alignas(8) B8 {
  u32 x, y;
};

GPUC_DEVICE B16 ld16(const void *p) { return *static_cast<const B16 *>(p); }
GPUC_DEVICE B8 ld8(const void *p) { return *static_cast<const B8 *>(p); }
GPUC_DEVICE u32 ld4(const void *p) { return *static_cast<const u32 *>(p); }
GPUC_DEVICE u16 ld2(const void *p) { return *static_cast<const u16 *>(p); }
GPUC_DEVICE u8 ld1(const void *p) { return *static_cast<const u8 *>(p); }

/// ld.global.nc of 16 bytes; `p` is global memory.
GPUC_DEVICE B16 ldNc16(const void *p) {
  uint4 v = __ldg(static_cast<const uint4 *>(p));
  return {v.x, v.y, v.z, v.w};
}
/// ld.global.nc of 8 bytes.
GPUC_DEVICE B8 ldNc8(const void *p) {
  uint2 v = __ldg(static_cast<const uint2 *>(p));
  return {v.x, v.y};
}
/// ld.global.nc of 4 bytes.
GPUC_DEVICE u32 ldNc4(const void *p) { return __ldg(static_cast<const u32 *>(p)); }
/// ld.global.nc of 2 bytes.
GPUC_DEVICE u16 ldNc2(const void *p) { return __ldg(static_cast<const u16 *>(p)); }
/// ld.global.nc of 1 byte.
GPUC_DEVICE u8 ldNc1(const void *p) { return __ldg(static_cast<const u8 *>(p)); }

GPUC_DEVICE void st16(void *p, B16 v) { *static_cast<B16 *>(p) = v; }
GPUC_DEVICE void st8(void *p, B8 v) { *static_cast<B8 *>(p) = v; }
GPUC_DEVICE void st4(void *p, u32 v) { *static_cast<u32 *>(p) = v; }
GPUC_DEVICE void st2(void *p, u16 v) { *static_cast<u16 *>(p) = v; }
GPUC_DEVICE void st1(void *p, u8 v) { *static_cast<u8 *>(p) = v; }

/// ld of N bytes into the local `to`.
template <int N> GPUC_DEVICE void ldBytes(void *to, const void *from) {
  static_assert(N == 16 || N == 8 || N == 4 || N == 2 || N == 1, "accesses have 16, 8, 4, 2 or 1 bytes");
  if constexpr (N == 16)
    *static_cast<B16 *>(to) = ld16(from);
  else if constexpr (N == 8)
    *static_cast<B8 *>(to) = ld8(from);
  else if constexpr (N == 4)
    *static_cast<u32 *>(to) = ld4(from);
  else if constexpr (N == 2)
    *static_cast<u16 *>(to) = ld2(from);
  else
    *static_cast<u8 *>(to) = ld1(from);
}

/// ldNc of N bytes into the local `to`.
template <int N> GPUC_DEVICE void ldNcBytes(void *to, const void *from) {
  static_assert(N == 16 || N == 8 || N == 4 || N == 2 || N == 1, "accesses have 16, 8, 4, 2 or 1 bytes");
  if constexpr (N == 16)
    *static_cast<B16 *>(to) = ldNc16(from);
  else if constexpr (N == 8)
    *static_cast<B8 *>(to) = ldNc8(from);
  else if constexpr (N == 4)
    *static_cast<u32 *>(to) = ldNc4(from);
  else if constexpr (N == 2)
    *static_cast<u16 *>(to) = ldNc2(from);
  else
    *static_cast<u8 *>(to) = ldNc1(from);
}

/// st of N bytes from the local `from`.
template <int N> GPUC_DEVICE void stBytes(void *to, const void *from) {
  static_assert(N == 16 || N == 8 || N == 4 || N == 2 || N == 1, "accesses have 16, 8, 4, 2 or 1 bytes");
  if constexpr (N == 16)
    st16(to, *static_cast<const B16 *>(from));
  else if constexpr (N == 8)
    st8(to, *static_cast<const B8 *>(from));
  else if constexpr (N == 4)
    st4(to, *static_cast<const u32 *>(from));
  else if constexpr (N == 2)
    st2(to, *static_cast<const u16 *>(from));
  else
    st1(to, *static_cast<const u8 *>(from));
}

/// The same value, which the compiler takes for unknown: keeps it from computing an address anew at every use.
GPUC_DEVICE u32 opaque(u32 v) {
  asm volatile("mov.u32 %0, %0;" : "+r"(v));
  return v;
}
/// ld.shared, st.shared of floats at a shared address.
GPUC_DEVICE void ldSharedF32x4(u32 address, float &x, float &y, float &z, float &w) {
  asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(address) : "memory");
}
GPUC_DEVICE void ldSharedF32x2(u32 address, float &x, float &y) {
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(x), "=f"(y) : "r"(address) : "memory");
}
GPUC_DEVICE void ldSharedF32x1(u32 address, float &x) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address) : "memory");
}
GPUC_DEVICE void ldSharedU32x4(u32 address, u32 &x, u32 &y, u32 &z, u32 &w) {
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(address) : "memory");
}
GPUC_DEVICE void stSharedF32x4(u32 address, float x, float y, float z, float w) {
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(address), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}
GPUC_DEVICE void stSharedF32x2(u32 address, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(address), "f"(x), "f"(y) : "memory");
}
GPUC_DEVICE void stSharedF32x1(u32 address, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
}
GPUC_DEVICE void stSharedU32x4(u32 address, u32 x, u32 y, u32 z, u32 w) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

} // namespace gpuc::arch
