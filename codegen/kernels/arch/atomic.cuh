// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic read-modify-write of global or shared memory, relaxed, device scope. Types of 1 and 2 bytes work by
// compare-and-swap on the containing 4-byte word. f16 and bf16 are computed in float.
#pragma once
#include "arch/convert.cuh"
#include "common/math.cuh"

namespace gpuc::arch {

/// atom.cas.b32 / .b64: stores `desired` if *p equals `expected`; returns what was there.
GPUC_DEVICE u32 atomicCas(u32 *p, u32 expected, u32 desired) { return ::atomicCAS(p, expected, desired); }
GPUC_DEVICE u64 atomicCas(u64 *p, u64 expected, u64 desired) { return ::atomicCAS(p, expected, desired); }

/// *p = update(*p) atomically; returns the old value. `update` may be called several times.
template <typename T, typename F> GPUC_DEVICE T atomicUpdate(T *p, F update) {
  if constexpr (sizeof(T) >= 4) {
    using Word = Unsigned<T>;
    Word *word = reinterpret_cast<Word *>(p);
    Word seen = *const_cast<const volatile Word *>(word);
    for (;;) {
      Word found = atomicCas(word, seen, bitCast<Word>(T(update(bitCast<T>(seen)))));
      if (found == seen)
        return bitCast<T>(seen);
      seen = found;
    }
  } else {
    u64 address = reinterpret_cast<u64>(p);
    u32 *word = reinterpret_cast<u32 *>(address & ~u64(3));
    u32 shift = u32(address & 3) * 8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    u32 seen = *const_cast<const volatile u32 *>(word);
    for (;;) {
      T old = bitCast<T>(Unsigned<T>(seen >> shift));
      u32 bits = bitCast<Unsigned<T>>(T(update(old)));
      u32 found = atomicCas(word, seen, (seen & ~mask) | (bits << shift));
      if (found == seen)
        return old;
      seen = found;
    }
  }
}

/// *p += v; integers wrap. Returns the old value.
template <typename T> GPUC_DEVICE T atomicAdd(T *p, NoDeduce<T> v) {
  if constexpr (kIsFloat<T>)
    return ::atomicAdd(p, v);
  else if constexpr (kIsInt<T> && sizeof(T) >= 4)
    return T(::atomicAdd(reinterpret_cast<Unsigned<T> *>(p), Unsigned<T>(v)));
  else
    return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_add(toAcc(old), toAcc(v))); });
}
/// *p *= v.
template <typename T> GPUC_DEVICE T atomicMul(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_mul(toAcc(old), toAcc(v))); });
}
/// *p = min(*p, v); NaN passes.
template <typename T> GPUC_DEVICE T atomicMin(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_min(toAcc(old), toAcc(v))); });
}
/// *p = max(*p, v); NaN passes.
template <typename T> GPUC_DEVICE T atomicMax(T *p, NoDeduce<T> v) {
  return atomicUpdate(p, [=](T old) { return fromAcc<T>(binary_max(toAcc(old), toAcc(v))); });
}

} // namespace gpuc::arch
