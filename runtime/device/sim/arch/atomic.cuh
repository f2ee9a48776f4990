// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/atomic.cuh. Real atomics: blocks run on several host threads. They
// are written as instructions so that the race checker does not take them for plain accesses.
#pragma once
#include "arch/convert.cuh"
#include "common/math.cuh"

namespace gpuc::arch {

/// Bounds and alignment of an atomic access.
GPUC_DEVICE void checkAtomic(const void *p, u32 size) {
  if (reinterpret_cast<u64>(p) % size != 0)
    ::gpucsim::api->misaligned(p, size);
#ifdef GPUC_SIM_FULL
  ::gpucsim::api->access(p, size, ::gpucsim::Access::Atomic, nullptr);
#endif
}
GPUC_DEVICE u32 loadWord(const u32 *p) {
  u32 v;
  asm volatile("movl %1, %0" : "=r"(v) : "m"(*p));
  return v;
}
GPUC_DEVICE u64 loadWord(const u64 *p) {
  u64 v;
  asm volatile("movq %1, %0" : "=r"(v) : "m"(*p));
  return v;
}
GPUC_DEVICE u32 casWord(u32 *p, u32 expected, u32 desired) {
  asm volatile("lock cmpxchgl %2, %1" : "+a"(expected), "+m"(*p) : "r"(desired) : "memory", "cc");
  return expected;
}
GPUC_DEVICE u64 casWord(u64 *p, u64 expected, u64 desired) {
  asm volatile("lock cmpxchgq %2, %1" : "+a"(expected), "+m"(*p) : "r"(desired) : "memory", "cc");
  return expected;
}
GPUC_DEVICE u32 atomicCas(u32 *p, u32 expected, u32 desired) {
  checkAtomic(p, 4);
  return casWord(p, expected, desired);
}
GPUC_DEVICE u64 atomicCas(u64 *p, u64 expected, u64 desired) {
  checkAtomic(p, 8);
  return casWord(p, expected, desired);
}

template <typename T, typename F> GPUC_DEVICE T atomicUpdate(T *p, F update) {
  checkAtomic(p, sizeof(T));
  if constexpr (sizeof(T) >= 4) {
    using Bits = Unsigned<T>;
    Bits *word = reinterpret_cast<Bits *>(p);
    Bits seen = loadWord(word);
    for (;;) {
      Bits found = casWord(word, seen, bitCast<Bits>(T(update(bitCast<T>(seen)))));
      if (found == seen)
        return bitCast<T>(seen);
      seen = found;
    }
  } else {
    u64 address = reinterpret_cast<u64>(p);
    u32 *word = reinterpret_cast<u32 *>(address & ~u64(3));
    u32 shift = u32(address & 3) * 8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    u32 seen = loadWord(word);
    for (;;) {
      T old = bitCast<T>(Unsigned<T>(seen >> shift));
      u32 bits = bitCast<Unsigned<T>>(T(update(old)));
      u32 found = casWord(word, seen, (seen & ~mask) | (bits << shift));
      if (found == seen)
        return old;
      seen = found;
    }
  }
}

template <typename T> GPUC_DEVICE T atomicAdd(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_add(toAcc(old), toAcc(v))); });
}
template <typename T> GPUC_DEVICE T atomicMul(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_mul(toAcc(old), toAcc(v))); });
}
template <typename T> GPUC_DEVICE T atomicMin(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_min(toAcc(old), toAcc(v))); });
}
template <typename T> GPUC_DEVICE T atomicMax(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_max(toAcc(old), toAcc(v))); });
}

} // namespace gpuc::arch
