// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/ldst.cuh: checks alignment.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

struct alignas(16) B16 {
  u32 x, y, z, w;
};
struct alignas(8) B8 {
  u32 x, y;
};

template <typename T> GPUC_DEVICE T ldChecked(const void *p) {
  if (reinterpret_cast<u64>(p) % sizeof(T) != 0)
    ::gpucsim::api->misaligned(p, sizeof(T));
  return *static_cast<const T *>(p);
}
template <typename T> GPUC_DEVICE void stChecked(void *p, T v) {
  if (reinterpret_cast<u64>(p) % sizeof(T) != 0)
    ::gpucsim::api->misaligned(p, sizeof(T));
  *static_cast<T *>(p) = v;
}
GPUC_DEVICE B16 ld16(const void *p) { return ldChecked<B16>(p); }
GPUC_DEVICE B8 ld8(const void *p) { return ldChecked<B8>(p); }
GPUC_DEVICE u32 ld4(const void *p) { return ldChecked<u32>(p); }
GPUC_DEVICE u16 ld2(const void *p) { return ldChecked<u16>(p); }
GPUC_DEVICE u8 ld1(const void *p) { return *static_cast<const u8 *>(p); }
GPUC_DEVICE B16 ldNc16(const void *p) { return ldChecked<B16>(p); }
GPUC_DEVICE B8 ldNc8(const void *p) { return ldChecked<B8>(p); }
GPUC_DEVICE u32 ldNc4(const void *p) { return ldChecked<u32>(p); }
GPUC_DEVICE u16 ldNc2(const void *p) { return ldChecked<u16>(p); }
GPUC_DEVICE u8 ldNc1(const void *p) { return *static_cast<const u8 *>(p); }
GPUC_DEVICE void st16(void *p, B16 v) { stChecked(p, v); }
GPUC_DEVICE void st8(void *p, B8 v) { stChecked(p, v); }
GPUC_DEVICE void st4(void *p, u32 v) { stChecked(p, v); }
GPUC_DEVICE void st2(void *p, u16 v) { stChecked(p, v); }
GPUC_DEVICE void st1(void *p, u8 v) { *static_cast<u8 *>(p) = v; }

/// Copies that do not split into scalars.
template <int N> GPUC_DEVICE void ldBytes(void *to, const void *from) {
  if (reinterpret_cast<u64>(from) % N != 0)
    ::gpucsim::api->misaligned(from, N);
  __builtin_memcpy(to, from, N);
}
template <int N> GPUC_DEVICE void ldNcBytes(void *to, const void *from) { ldBytes<N>(to, from); }
template <int N> GPUC_DEVICE void stBytes(void *to, const void *from) {
  if (reinterpret_cast<u64>(to) % N != 0)
    ::gpucsim::api->misaligned(to, N);
  __builtin_memcpy(to, from, N);
}

GPUC_DEVICE u32 opaque(u32 v) { return v; }
/// Shared memory at a shared address.
template <typename T> GPUC_DEVICE T *sharedPointer(u32 address, u32 bytes) {
  return static_cast<T *>(::gpucsim::api->sharedPointer(address, bytes));
}
GPUC_DEVICE void ldSharedF32x4(u32 address, float &x, float &y, float &z, float &w) {
  const float *p = sharedPointer<const float>(address, 16);
  x = p[0], y = p[1], z = p[2], w = p[3];
}
GPUC_DEVICE void ldSharedF32x2(u32 address, float &x, float &y) {
  const float *p = sharedPointer<const float>(address, 8);
  x = p[0], y = p[1];
}
GPUC_DEVICE void ldSharedF32x1(u32 address, float &x) { x = *sharedPointer<const float>(address, 4); }
GPUC_DEVICE void ldSharedU32x4(u32 address, u32 &x, u32 &y, u32 &z, u32 &w) {
  const u32 *p = sharedPointer<const u32>(address, 16);
  x = p[0], y = p[1], z = p[2], w = p[3];
}
GPUC_DEVICE void stSharedF32x4(u32 address, float x, float y, float z, float w) {
  float *p = sharedPointer<float>(address, 16);
  p[0] = x, p[1] = y, p[2] = z, p[3] = w;
}
GPUC_DEVICE void stSharedF32x2(u32 address, float x, float y) {
  float *p = sharedPointer<float>(address, 8);
  p[0] = x, p[1] = y;
}
GPUC_DEVICE void stSharedF32x1(u32 address, float x) { *sharedPointer<float>(address, 4) = x; }
GPUC_DEVICE void stSharedU32x4(u32 address, u32 x, u32 y, u32 z, u32 w) {
  u32 *p = sharedPointer<u32>(address, 16);
  p[0] = x, p[1] = y, p[2] = z, p[3] = w;
}

} // namespace gpuc::arch
